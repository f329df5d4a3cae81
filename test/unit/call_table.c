// The table of system calls: whatever bytes the kernel changes in a call that the table describes,
// the log has; giving the logged call again leaves memory as the kernel left it; may_write knows
// all these bytes. The kernel is the oracle: each call is made here, on memory that is full of a
// pattern.
#include "tracee/call_log.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
    ROOM = 1 << 16,
    A = 1024, /* offsets of buffers in the memory */
    B = 20480,
    C = 40960
};

static unsigned char memory[ROOM], after[ROOM], again[ROOM];
static int file, pair[2], poller, terminal, directory;
static unsigned made;
static int faults;

#define AT(offset) ((uint64_t)(uintptr_t)(memory + (offset)))
#define TEXT(text) ((uint64_t)(uintptr_t)(text))

static void fail(const char *name, const char *what, size_t offset) {
    printf("%s: %s at offset %zu\n", name, what, offset);
    faults++;
}

static int64_t make_call(const struct system_call *call) {
    const uint64_t *a = call->arguments;
    register uint64_t r10 __asm__("r10") = a[3];
    register uint64_t r8 __asm__("r8") = a[4];
    register uint64_t r9 __asm__("r9") = a[5];
    int64_t result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(call->number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Whether CALL's log has the byte at OFFSET of the memory. */
static bool is_logged(const struct logged_call *call, size_t offset) {
    for (int i = 0; i < QUIPU_CALL_ACCESSES; i++)
        if (AT(offset) - call->outputs[i].address < call->outputs[i].size)
            return true;
    return false;
}

static void compare(const char *name, const struct system_call *call,
                    const struct logged_call *logged, const unsigned char *before) {
    for (size_t i = 0; i < ROOM; i++) {
        if (after[i] == before[i])
            continue;
        if (!is_logged(logged, i))
            fail(name, "a byte is not logged", i);
        if (!may_write(call, AT(i), 1))
            fail(name, "may_write does not know a byte", i);
    }
    memcpy(memory, before, ROOM);
    if (!give_call(logged, getpid()))
        fail(name, "it cannot be given again", 0);
    if (memcmp(memory, after, ROOM) != 0)
        fail(name, "given again it leaves other bytes", 0);
}

/* Makes the call, whose memory PREPARE fills besides the PATTERN. */
static void try_pattern(const char *name, struct system_call call, void prepare(void),
                        int pattern) {
    static unsigned char before[ROOM];
    struct call_log log = {0};
    memset(memory, pattern, ROOM);
    if (prepare)
        prepare();
    const struct quipu_system_call *row = find_call_row(&call);
    if (row->repeats != QUIPU_CALL_GIVEN) {
        fail(name, "the table does not describe it", 0);
        return;
    }
    memcpy(before, memory, ROOM);
    call.result = make_call(&call);
    memcpy(after, memory, ROOM);
    if (call.result < 0 && call.result >= -4095)
        fail(name, strerror((int)-call.result), 0);
    else if (!log_call(&log, getpid(), &call, row))
        fail(name, "it cannot be logged", 0);
    else
        compare(name, &call, &log.calls.data[0], before);
    clear_calls(&log);
    made++;
}

#define TRY(name, prepare, ...)                                                                    \
    do {                                                                                           \
        struct system_call call_ = {.number = SYS_##name, .arguments = {__VA_ARGS__}};             \
        try_pattern(#name, call_, prepare, 0x00);                                                  \
        try_pattern(#name, call_, prepare, 0xa5);                                                  \
        try_pattern(#name, call_, prepare, 0x5a);                                                  \
    } while (0)

/* ---- what calls need ---- */

static void rewind_file(void) {
    lseek(file, 0, SEEK_SET);
}

static void send_bytes(void) {
    if (write(pair[1], "seventeen bytes..", 17) != 17)
        exit(1);
}

static void two_files(void) {
    struct pollfd polled[3] = {{pair[0], POLLIN, 0}, {-1, 0, 7}, {pair[1], POLLOUT, 0}};
    send_bytes();
    memcpy(memory + A, polled, sizeof polled);
}

static void take_bytes(void) {
    char taken[4096];
    while (recv(pair[0], taken, sizeof taken, MSG_DONTWAIT) > 0)
        continue;
}

static void child(void) {
    if (fork() == 0)
        _exit(42);
}

static void short_time(void) {
    const struct timespec time = {0, 1000};
    memcpy(memory + A, &time, sizeof time);
}

static void whole_limits(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_CORE, &limit);
    memcpy(memory + B, &limit, sizeof limit);
}

static void long_timer(void) {
    const struct itimerval timer = {{0}, {3600, 0}};
    memcpy(memory + A, &timer, sizeof timer);
}

static void rewind_directory(void) {
    lseek(directory, 0, SEEK_SET);
}

static void try_files(void) {
    TRY(read, rewind_file, (uint64_t)file, AT(A), 100);
    TRY(read, rewind_file, (uint64_t)file, AT(A), 8192);
    TRY(pread64, NULL, (uint64_t)file, AT(A), 333, 5);
    TRY(write, rewind_file, (uint64_t)file, AT(A), 10);
    TRY(lseek, NULL, (uint64_t)file, 3, SEEK_SET);
    TRY(stat, NULL, TEXT("."), AT(A));
    TRY(lstat, NULL, TEXT("."), AT(A));
    TRY(fstat, NULL, (uint64_t)file, AT(A));
    TRY(newfstatat, NULL, (uint64_t)AT_FDCWD, TEXT("link"), AT(A), AT_SYMLINK_NOFOLLOW);
    TRY(statx, NULL, (uint64_t)AT_FDCWD, TEXT("."), 0, STATX_ALL, AT(A));
    TRY(access, NULL, TEXT("."), R_OK);
    TRY(readlink, NULL, TEXT("link"), AT(A), 500);
    TRY(readlinkat, NULL, (uint64_t)AT_FDCWD, TEXT("link"), AT(A), 4);
    TRY(getdents64, rewind_directory, (uint64_t)directory, AT(A), 8192);
    TRY(getcwd, NULL, AT(A), 4096);
    TRY(fcntl, NULL, (uint64_t)file, F_GETFL);
    TRY(umask, NULL, 022);
    if (terminal < 0) {
        printf("there is no terminal to ask\n");
        return;
    }
    TRY(ioctl, NULL, (uint64_t)terminal, TCGETS, AT(A));
    TRY(ioctl, NULL, (uint64_t)terminal, TIOCGWINSZ, AT(A));
}

static void try_sockets(void) {
    TRY(poll, two_files, AT(A), 3, 0);
    TRY(poll, two_files, AT(A), 2, 0);
    TRY(epoll_wait, send_bytes, (uint64_t)poller, AT(A), 5, 0);
    TRY(recvfrom, send_bytes, (uint64_t)pair[0], AT(A), 11);
    TRY(recvfrom, send_bytes, (uint64_t)pair[0], AT(A), 4096);
    TRY(sendto, take_bytes, (uint64_t)pair[1], AT(A), 30);
}

static void try_times(void) {
    TRY(clock_gettime, NULL, CLOCK_REALTIME, AT(A));
    TRY(clock_getres, NULL, CLOCK_MONOTONIC, AT(A));
    TRY(gettimeofday, NULL, AT(A), AT(B));
    TRY(gettimeofday, NULL, AT(A), 0);
    TRY(time, NULL, AT(A));
    TRY(times, NULL, AT(A));
    TRY(nanosleep, short_time, AT(A), AT(B));
    TRY(clock_nanosleep, short_time, CLOCK_MONOTONIC, 0, AT(A), AT(B));
    TRY(setitimer, long_timer, ITIMER_REAL, AT(A), AT(B));
    TRY(getitimer, NULL, ITIMER_REAL, AT(A));
    TRY(alarm, NULL, 0);
}

static void try_processes(void) {
    TRY(wait4, child, UINT64_MAX, AT(A), 0, AT(B));
    TRY(wait4, child, UINT64_MAX, 0, 0, AT(C));
    TRY(getrusage, NULL, RUSAGE_SELF, AT(A));
    TRY(sysinfo, NULL, AT(A));
    TRY(uname, NULL, AT(A));
    TRY(getrlimit, NULL, RLIMIT_NOFILE, AT(A));
    TRY(prlimit64, whole_limits, 0, RLIMIT_CORE, AT(B), AT(C));
    TRY(getrandom, NULL, AT(A), 77, 0);
    TRY(getcpu, NULL, AT(A), AT(B), 0);
    TRY(getpid, NULL, 0);
    TRY(sched_yield, NULL, 0);
}

static void check_order(void) {
    static const struct quipu_system_call rows[] = {QUIPU_SYSTEM_CALLS(QUIPU_SYSTEM_CALL_ROW)};
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number < rows[i - 1].number)
            fail("all", "rows are not sorted by number", i);
}

int main(void) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0x0123456789abcdef};
    file = open("text", O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 1000; i++)
        if (write(file, &i, sizeof i) != sizeof i)
            return 1;
    directory = open(".", O_RDONLY | O_DIRECTORY);
    poller = epoll_create1(0);
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (directory < 0 || symlink("text", "link") != 0 || poller < 0 ||
        socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0 ||
        epoll_ctl(poller, EPOLL_CTL_ADD, pair[0], &event) != 0)
        return 1;
    check_order();
    try_files();
    try_sockets();
    try_times();
    try_processes();
    if (made < 100)
        fail("all", "calls are too few", made);
    return faults != 0;
}
