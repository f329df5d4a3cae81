/* call_log.c: the log of a run's system calls; see call_log.h.
 *
 * The table has the calls that programs make often. A call that it does not have is made only once:
 * the search makes a checkpoint behind it. */
#include "tracee/call_log.h"

#include <asm/termbits.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>

/* N is the number of an argument, from 1. */
#define BYTES(n, count)                                                                            \
    { (n), OUTPUT_BYTES, (count) }
#define RESULT(n)                                                                                  \
    { (n), OUTPUT_RESULT, 0 }
#define EVENTS(n)                                                                                  \
    { (n), OUTPUT_EVENTS, 0 }
#define POLLED(n)                                                                                  \
    { (n), OUTPUT_POLLED, 0 }

static bool is_private_mapping(const struct system_call *call) {
    return (call->arguments[3] & (MAP_ANONYMOUS | MAP_PRIVATE)) == (MAP_ANONYMOUS | MAP_PRIVATE);
}

static bool is_plain_control(const struct system_call *call) {
    return call->arguments[1] <= F_SETFL || call->arguments[1] == F_DUPFD_CLOEXEC;
}

static bool asks_terminal(const struct system_call *call) {
    return call->arguments[1] == TCGETS || call->arguments[1] == TIOCGWINSZ;
}

static bool asks_no_address(const struct system_call *call) {
    return call->arguments[4] == 0;
}

static bool wakes(const struct system_call *call) {
    return (call->arguments[1] & 0x7f) <= 1; /* FUTEX_WAIT, FUTEX_WAKE */
}

static const struct call_row rows[] = {
    {SYS_read, CALL_GIVEN, NULL, {RESULT(2)}},
    {SYS_pread64, CALL_GIVEN, NULL, {RESULT(2)}},
    {SYS_write, CALL_GIVEN, NULL, {{0}}},
    {SYS_pwrite64, CALL_GIVEN, NULL, {{0}}},
    {SYS_writev, CALL_GIVEN, NULL, {{0}}},
    {SYS_pwritev, CALL_GIVEN, NULL, {{0}}},
    {SYS_lseek, CALL_GIVEN, NULL, {{0}}},
    {SYS_open, CALL_GIVEN, NULL, {{0}}},
    {SYS_openat, CALL_GIVEN, NULL, {{0}}},
    {SYS_creat, CALL_GIVEN, NULL, {{0}}},
    {SYS_close, CALL_GIVEN, NULL, {{0}}},
    {SYS_dup, CALL_GIVEN, NULL, {{0}}},
    {SYS_dup2, CALL_GIVEN, NULL, {{0}}},
    {SYS_dup3, CALL_GIVEN, NULL, {{0}}},
    {SYS_pipe, CALL_GIVEN, NULL, {BYTES(1, 8)}},
    {SYS_pipe2, CALL_GIVEN, NULL, {BYTES(1, 8)}},
    {SYS_fcntl, CALL_GIVEN, is_plain_control, {{0}}},
    {SYS_ioctl, CALL_GIVEN, asks_terminal, {BYTES(3, sizeof(struct termios))}},
    {SYS_stat, CALL_GIVEN, NULL, {BYTES(2, sizeof(struct stat))}},
    {SYS_fstat, CALL_GIVEN, NULL, {BYTES(2, sizeof(struct stat))}},
    {SYS_lstat, CALL_GIVEN, NULL, {BYTES(2, sizeof(struct stat))}},
    {SYS_newfstatat, CALL_GIVEN, NULL, {BYTES(3, sizeof(struct stat))}},
    {SYS_statx, CALL_GIVEN, NULL, {BYTES(5, sizeof(struct statx))}},
    {SYS_access, CALL_GIVEN, NULL, {{0}}},
    {SYS_faccessat, CALL_GIVEN, NULL, {{0}}},
    {SYS_faccessat2, CALL_GIVEN, NULL, {{0}}},
    {SYS_readlink, CALL_GIVEN, NULL, {RESULT(2)}},
    {SYS_readlinkat, CALL_GIVEN, NULL, {RESULT(3)}},
    {SYS_getdents64, CALL_GIVEN, NULL, {RESULT(2)}},
    {SYS_getcwd, CALL_GIVEN, NULL, {RESULT(1)}},
    {SYS_fsync, CALL_GIVEN, NULL, {{0}}},
    {SYS_fdatasync, CALL_GIVEN, NULL, {{0}}},
    {SYS_ftruncate, CALL_GIVEN, NULL, {{0}}},
    {SYS_rename, CALL_GIVEN, NULL, {{0}}},
    {SYS_unlink, CALL_GIVEN, NULL, {{0}}},
    {SYS_unlinkat, CALL_GIVEN, NULL, {{0}}},
    {SYS_mkdir, CALL_GIVEN, NULL, {{0}}},
    {SYS_rmdir, CALL_GIVEN, NULL, {{0}}},
    {SYS_chdir, CALL_GIVEN, NULL, {{0}}},
    {SYS_umask, CALL_GIVEN, NULL, {{0}}},
    {SYS_fadvise64, CALL_GIVEN, NULL, {{0}}},
    {SYS_poll, CALL_GIVEN, NULL, {POLLED(1)}},
    {SYS_epoll_create1, CALL_GIVEN, NULL, {{0}}},
    {SYS_epoll_ctl, CALL_GIVEN, NULL, {{0}}},
    {SYS_epoll_wait, CALL_GIVEN, NULL, {EVENTS(2)}},
    {SYS_socket, CALL_GIVEN, NULL, {{0}}},
    {SYS_connect, CALL_GIVEN, NULL, {{0}}},
    {SYS_bind, CALL_GIVEN, NULL, {{0}}},
    {SYS_listen, CALL_GIVEN, NULL, {{0}}},
    {SYS_shutdown, CALL_GIVEN, NULL, {{0}}},
    {SYS_setsockopt, CALL_GIVEN, NULL, {{0}}},
    {SYS_sendto, CALL_GIVEN, NULL, {{0}}},
    {SYS_recvfrom, CALL_GIVEN, asks_no_address, {RESULT(2)}},
    {SYS_nanosleep, CALL_GIVEN, NULL, {BYTES(2, sizeof(struct timespec))}},
    {SYS_clock_nanosleep, CALL_GIVEN, NULL, {BYTES(4, sizeof(struct timespec))}},
    {SYS_clock_gettime, CALL_GIVEN, NULL, {BYTES(2, sizeof(struct timespec))}},
    {SYS_clock_getres, CALL_GIVEN, NULL, {BYTES(2, sizeof(struct timespec))}},
    {SYS_gettimeofday, CALL_GIVEN, NULL, {BYTES(1, sizeof(struct timeval)), BYTES(2, 8)}},
    {SYS_time, CALL_GIVEN, NULL, {BYTES(1, 8)}},
    {SYS_times, CALL_GIVEN, NULL, {BYTES(1, sizeof(struct tms))}},
    {SYS_getrusage, CALL_GIVEN, NULL, {BYTES(2, sizeof(struct rusage))}},
    {SYS_sysinfo, CALL_GIVEN, NULL, {BYTES(1, sizeof(struct sysinfo))}},
    {SYS_uname, CALL_GIVEN, NULL, {BYTES(1, sizeof(struct utsname))}},
    {SYS_getrlimit, CALL_GIVEN, NULL, {BYTES(2, sizeof(struct rlimit))}},
    {SYS_prlimit64, CALL_GIVEN, NULL, {BYTES(4, sizeof(struct rlimit))}},
    {SYS_getrandom, CALL_GIVEN, NULL, {RESULT(1)}},
    {SYS_getcpu, CALL_GIVEN, NULL, {BYTES(1, 4), BYTES(2, 4)}},
    {SYS_getpid, CALL_GIVEN, NULL, {{0}}},
    {SYS_gettid, CALL_GIVEN, NULL, {{0}}},
    {SYS_getppid, CALL_GIVEN, NULL, {{0}}},
    {SYS_getuid, CALL_GIVEN, NULL, {{0}}},
    {SYS_geteuid, CALL_GIVEN, NULL, {{0}}},
    {SYS_getgid, CALL_GIVEN, NULL, {{0}}},
    {SYS_getegid, CALL_GIVEN, NULL, {{0}}},
    {SYS_getpgrp, CALL_GIVEN, NULL, {{0}}},
    {SYS_kill, CALL_GIVEN, NULL, {{0}}},
    {SYS_tgkill, CALL_GIVEN, NULL, {{0}}},
    {SYS_alarm, CALL_GIVEN, NULL, {{0}}},
    {SYS_setitimer, CALL_GIVEN, NULL, {BYTES(3, 32)}},
    {SYS_getitimer, CALL_GIVEN, NULL, {BYTES(2, 32)}},
    {SYS_wait4, CALL_GIVEN, NULL, {BYTES(2, 4), BYTES(4, sizeof(struct rusage))}},
    {SYS_sched_yield, CALL_GIVEN, NULL, {{0}}},
    {SYS_futex, CALL_GIVEN, wakes, {{0}}},
    {SYS_brk, CALL_AGAIN, NULL, {{0}}},
    {SYS_mmap, CALL_AGAIN, is_private_mapping, {{0}}},
    {SYS_munmap, CALL_AGAIN, NULL, {{0}}},
    {SYS_mremap, CALL_AGAIN, NULL, {{0}}},
    {SYS_mprotect, CALL_AGAIN, NULL, {{0}}},
    {SYS_madvise, CALL_AGAIN, NULL, {{0}}},
    {SYS_rt_sigaction, CALL_AGAIN, NULL, {{0}}},
    {SYS_rt_sigprocmask, CALL_AGAIN, NULL, {{0}}},
    {SYS_rt_sigreturn, CALL_AGAIN, NULL, {{0}}},
    {SYS_sigaltstack, CALL_AGAIN, NULL, {{0}}},
    {SYS_arch_prctl, CALL_AGAIN, NULL, {{0}}},
};

const struct call_row *find_call_row(const struct system_call *call) {
    static const struct call_row unknown = {.kind = CALL_ONCE};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == (int)call->number)
            return rows[i].fits && !rows[i].fits(call) ? &unknown : &rows[i];
    return &unknown;
}

static size_t output_bytes(const struct system_call *call, const struct call_output *output) {
    switch (output->size) {
    case OUTPUT_RESULT:
        return call->result > 0 ? (size_t)call->result : 0;
    case OUTPUT_POLLED:
        return sizeof(struct pollfd) * call->arguments[1];
    case OUTPUT_EVENTS:
        return call->result > 0 ? sizeof(struct epoll_event) * (size_t)call->result : 0;
    default:
        return output->bytes;
    }
}

/* Returns the maximum number of bytes that the call may write. The buffer's size is the argument
 * behind the address. */
static uint64_t most_output_bytes(const struct system_call *call,
                                  const struct call_output *output) {
    switch (output->size) {
    case OUTPUT_RESULT:
        return call->arguments[output->argument];
    case OUTPUT_EVENTS:
        return sizeof(struct epoll_event) * call->arguments[output->argument];
    default:
        return output_bytes(call, output);
    }
}

/* FUTEX_WAIT, FUTEX_WAKE, FUTEX_FD, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAIT_BITSET and
 * FUTEX_WAKE_BITSET only read. */
static bool changes_futex(const struct system_call *call) {
    uint64_t operation = call->arguments[1] & 0x7f;
    return operation > 4 && operation != 9 && operation != 10;
}

bool may_write(const struct system_call *call, uint64_t address, uint64_t size) {
    const struct call_row *row = find_call_row(call);
    if (call->number == SYS_futex)
        return changes_futex(call);
    if (row->kind != CALL_GIVEN)
        return true;
    for (int i = 0; i < OUTPUTS_MAX && row->outputs[i].argument; i++) {
        uint64_t begin = call->arguments[row->outputs[i].argument - 1];
        uint64_t most = most_output_bytes(call, &row->outputs[i]);
        if (begin && begin < address + size && (address < begin || address - begin < most))
            return true;
    }
    return false;
}

bool log_call(struct call_log *log, pid_t process, const struct system_call *call,
              const struct call_row *row) {
    struct logged_call logged = {call->number, call->result, {{0}}};
    for (int i = 0; i < OUTPUTS_MAX && row->outputs[i].argument; i++) {
        uint64_t address = call->arguments[row->outputs[i].argument - 1];
        size_t size = output_bytes(call, &row->outputs[i]);
        if (!address || !size || call->result < 0)
            continue;
        uint8_t *bytes = arena_alloc(&log->arena, size);
        struct iovec here = {bytes, size}, there = {(void *)address, size};
        /* the program's structure may be shorter than the kernel's largest; the bytes behind it are
         * logged unchanged */
        ssize_t read = process_vm_readv(process, &here, 1, &there, 1, 0);
        if (read <= 0)
            return false;
        logged.outputs[i].address = address;
        logged.outputs[i].bytes = bytes;
        logged.outputs[i].size = (size_t)read;
        log->bytes += (size_t)read;
    }
    vector_push(&log->arena, &log->calls, logged);
    return true;
}

bool give_call(const struct logged_call *call, pid_t process) {
    for (int i = 0; i < OUTPUTS_MAX; i++) {
        size_t size = call->outputs[i].size;
        struct iovec here = {call->outputs[i].bytes, size};
        struct iovec there = {(void *)call->outputs[i].address, size};
        if (size && process_vm_writev(process, &here, 1, &there, 1, 0) != (ssize_t)size)
            return false;
    }
    return true;
}

void clear_calls(struct call_log *log) {
    arena_release(&log->arena);
    *log = (struct call_log){0};
}
