/* inside_rows.c: see inside_rows.h.
 *
 * What a call writes is taken from its row in format/system_calls.h. Here stands only whether
 * another thread may have to execute before its end, and how it is made if so. */
#include "replay/inside_rows.h"

#include "util/diag.h"

enum {
    NONE = QUIPU_INSIDE_ARGUMENTS
};

#define ALL UINT32_MAX

/* One of several rows of a number counts if these bits of the argument have this value. */
struct condition {
    uint8_t argument;
    uint32_t mask, value;
};

struct inside_call {
    uint16_t number;
    uint8_t kind, descriptor, wait, changes_files;
    struct condition condition;
};

/* ROW(name, kind, descriptor, wait, changes files, argument, mask, value) */
/* clang-format off */
#define INSIDE_CALLS(ROW) \
    ROW(read, READ, 0, 0, 0, 0, 0, 0) \
    ROW(pread64, READ, 0, 0, 0, 0, 0, 0) \
    ROW(write, WRITE, 0, 0, 1, 0, 0, 0) \
    ROW(pwrite64, WRITE, 0, 0, 1, 0, 0, 0) \
    ROW(recvfrom, MESSAGE, 0, 0, 0, 4, ALL, 0) \
    ROW(sendto, MESSAGE, 0, 0, 0, 0, 0, 0) \
    ROW(poll, POLL, NONE, 2, 0, 0, 0, 0) \
    ROW(epoll_wait, POLL, NONE, 3, 0, 0, 0, 0) \
    ROW(epoll_pwait, POLL, NONE, 3, 0, 4, ALL, 0) /* without a mask */ \
    ROW(open, OPEN, NONE, 0, 0, 0, 0, 0) \
    ROW(openat, OPEN, NONE, 1, 0, 0, 0, 0) \
    ROW(close, CLOSE, 0, 0, 0, 0, 0, 0) \
    ROW(futex, FUTEX, NONE, 0, 0, 1, 0x7f, 0) /* FUTEX_WAIT */ \
    ROW(futex, FUTEX, NONE, 0, 0, 1, 0x7f, 1) /* FUTEX_WAKE */ \
    ROW(futex, FUTEX, NONE, 0, 0, 1, 0x7f, 9) /* FUTEX_WAIT_BITSET */ \
    ROW(futex, FUTEX, NONE, 0, 0, 1, 0x7f, 10) /* FUTEX_WAKE_BITSET */ \
    ROW(clock_gettime, CLOCK, NONE, QUIPU_CLOCK_GETTIME, 0, 0, 0, 0) \
    ROW(gettimeofday, CLOCK, NONE, QUIPU_CLOCK_TIMEOFDAY, 0, 0, 0, 0) \
    ROW(time, CLOCK, NONE, QUIPU_CLOCK_TIME, 0, 0, 0, 0) \
    ROW(writev, VECTOR, 0, 0, 1, 0, 0, 0) \
    ROW(sendfile, VECTOR, 0, 0, 1, 0, 0, 0) \
    ROW(ioctl, PLAIN, 0, 0, 0, 1, ALL, 0x5401) /* TCGETS */ \
    ROW(ioctl, PLAIN, 0, 0, 0, 1, ALL, 0x5413) /* TIOCGWINSZ */ \
    ROW(ioctl, PLAIN, 0, 0, 0, 1, ALL, 0x541b) /* FIONREAD */ \
    ROW(rt_sigaction, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(brk, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(wait4, SLEEP, NONE, 0, 0, 0, 0, 0) \
    ROW(wait4, PLAIN, NONE, 0, 0, 2, ALL, 1) /* WNOHANG */ \
    ROW(nanosleep, SLEEP, NONE, 0, 0, 0, 0, 0) \
    ROW(clock_nanosleep, SLEEP, NONE, 0, 0, 0, 0, 0) \
    ROW(flock, SLEEP, 0, 0, 0, 0, 0, 0) \
    ROW(fcntl, PLAIN, 0, 0, 0, 1, ALL, 1) /* F_GETFD */ \
    ROW(fcntl, PLAIN, 0, 0, 0, 1, 0xfffffffe, 2) /* F_SETFD, F_GETFL */ \
    ROW(ftruncate, PLAIN, 0, 0, 1, 0, 0, 0) \
    ROW(fstat, PLAIN, 0, 0, 0, 0, 0, 0) \
    ROW(lseek, PLAIN, 0, 0, 0, 0, 0, 0) \
    ROW(fchmod, PLAIN, 0, 0, 0, 0, 0, 0) \
    ROW(fsync, PLAIN, 0, 0, 0, 0, 0, 0) \
    ROW(fdatasync, PLAIN, 0, 0, 0, 0, 0, 0) \
    ROW(getdents64, PLAIN, 0, 0, 0, 0, 0, 0) \
    ROW(fadvise64, PLAIN, 0, 0, 0, 0, 0, 0) \
    ROW(setsockopt, PLAIN, 0, 0, 0, 0, 0, 0) \
    ROW(shutdown, PLAIN, 0, 0, 0, 0, 0, 0) \
    ROW(getpid, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getppid, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(gettid, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getuid, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(geteuid, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getgid, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getegid, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getpgrp, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getpgid, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getsid, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(umask, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(uname, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(clock_getres, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(times, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getrusage, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(sysinfo, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getrandom, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getrlimit, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getitimer, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(getcwd, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(chdir, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(stat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(lstat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(newfstatat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(statx, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(access, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(faccessat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(faccessat2, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(readlink, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(readlinkat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(unlink, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(unlinkat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(rename, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(renameat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(renameat2, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(mkdir, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(mkdirat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(rmdir, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(link, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(linkat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(symlink, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(symlinkat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(chmod, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(fchmodat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(utimensat, PLAIN, NONE, 0, 0, 0, 0, 0) \
    ROW(epoll_ctl, PLAIN, NONE, 0, 0, 0, 0, 0)
/* clang-format on */

#define INSIDE_CALL(name, kind, descriptor, wait, changes, argument, mask, value)                  \
    {SYS_##name, QUIPU_INSIDE_##kind, descriptor, wait, changes, {argument, mask, value}},

/* Of several rows of a number the last one counts whose condition holds. */
static const struct inside_call calls[] = {INSIDE_CALLS(INSIDE_CALL)};

enum {
    CALLS = sizeof calls / sizeof *calls
};

_Static_assert(sizeof calls / sizeof *calls < (size_t)QUIPU_INSIDE_ROWS_MOST, "row 0 is none");

/* Sets what the call writes. Returns false if its row says more than the code inside knows. */
static bool set_accesses(struct quipu_inside_row *row, const struct inside_call *inside) {
    struct system_call call = {.number = inside->number};
    int count = 0;
    call.arguments[inside->condition.argument] = inside->condition.value;
    const struct quipu_system_call *known = find_call_row(&call);
    for (int i = 0; i < QUIPU_CALL_ACCESSES && known->accesses[i]; i++) {
        uint32_t extent = known->accesses[i];
        enum quipu_extent kind = quipu_extent_kind(extent);
        if (!is_output(extent))
            continue;
        if (count == QUIPU_INSIDE_ACCESSES ||
            (kind != QUIPU_EXTENT_CONSTANT && kind != QUIPU_EXTENT_RESULT &&
             kind != QUIPU_EXTENT_TIMES && kind != QUIPU_EXTENT_BYTES))
            return false;
        row->accesses[count++] = extent;
    }
    return known->number == inside->number;
}

static void make_rows(struct quipu_inside_rows *made) {
    for (size_t i = 0; i < CALLS; i++) {
        const struct inside_call *call = &calls[i];
        struct quipu_inside_row *row = &made->rows[i + 1];
        *row = (struct quipu_inside_row){
            .kind = call->kind,
            .argument = call->condition.argument,
            .wait = call->wait,
            .changes_files = call->changes_files,
            .descriptor = call->descriptor,
            .next = made->first[call->number],
            .number = call->number,
            .mask = call->condition.mask,
            .value = call->condition.value,
        };
        CHECK(set_accesses(row, call));
        made->first[call->number] = (uint8_t)(i + 1);
    }
}

const struct quipu_inside_rows *inside_rows(void) {
    static struct quipu_inside_rows made;
    if (!made.rows[1].number && !made.rows[1].kind)
        make_rows(&made);
    return &made;
}

bool may_be_inside(uint64_t number) {
    return number < QUIPU_INSIDE_NUMBERS && inside_rows()->first[number];
}

bool waits_inside(const struct system_call *call) {
    const struct quipu_inside_rows *all = inside_rows();
    uint8_t index = may_be_inside(call->number) ? all->first[call->number] : 0;
    for (; index; index = all->rows[index].next) {
        const struct quipu_inside_row *row = &all->rows[index];
        if (((uint32_t)call->arguments[row->argument] & row->mask) == row->value)
            return row->kind == QUIPU_INSIDE_READ || row->kind == QUIPU_INSIDE_POLL ||
                   row->kind == QUIPU_INSIDE_MESSAGE || row->kind == QUIPU_INSIDE_FUTEX;
    }
    return false;
}
