#!/bin/bash
# trace_system_calls.sh: what the kernel reads and writes is in a trace where the program itself has the
# system call's instruction, or gives its number to a function. The program prints what is expected.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
static char a[5000], b[5000];
static void expect(const char *name, const char *how, const volatile void *p, size_t size) {
    fprintf(stderr, "%s %s %lx %zu\n", name, how, (unsigned long)p, size);
}
static void called(const char *name) {
    fprintf(stderr, "%s\n", name);
}
static inline long call(long number, long p, long q, long r, long s, long t, long u) {
    register long r10 __asm__("r10") = s, r8 __asm__("r8") = t, r9 __asm__("r9") = u;
    __asm__ volatile("syscall" : "+a"(number) : "D"(p), "S"(q), "d"(r), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return number;
}
#define CALL(name, p, q, r, s) call(SYS_##name, (long)(p), (long)(q), (long)(r), (long)(s), 0, 0)
long any(long number, ...);                   /* hand-written, as in a C library */
long __syscall_cp_asm(int *, long number, ...); /* left alone: its labels are known */
__attribute__((noinline)) static long leaf(long n) { /* with a red zone */
    volatile long words[6];
    words[n] = n;
    return CALL(getppid, 0, 0, 0, 0) > 0 ? words[n] : 0;
}
static int handled;
static const char letter[] = "h", sent[] = "seventeen";
static void handle(int number) {
    handled += number;
    CALL(write, 1, letter, 1, 0);
}
int main(int argc, char **argv) {
    long got = argc, fd = CALL(openat, AT_FDCWD, argv[1], O_RDONLY, 0);
    struct iovec parts[3] = {{a, 5}, {b, 7}, {a + 9, 100}};
    struct stat about;
    struct timespec time = {0};
    struct epoll_event events[4] = {{.events = EPOLLOUT}};
    int pair[2], flag = 0;
    called("openat"), expect("openat", "R", argv[1], strlen(argv[1]) + 1);
    got += CALL(read, fd, a, 10, 0);
    called("read"), expect("read", "W", a, 10);
    got += any(SYS_pread64, fd, b, sizeof b, 0L, 0L, 7L);
    called("pread64"), expect("pread64", "W", b, 26);
    got += CALL(read, -1, a, 10, 0);
    called("read");
    got += leaf(3);
    called("getppid");
    got += CALL(readv, fd, parts, 3, 0);
    called("readv"), expect("readv", "R", parts, sizeof parts), expect("readv", "W", a, 5);
    expect("readv", "W", b, 7), expect("readv", "W", a + 9, 4);
    got += CALL(write, 1, a, 3, 0);
    called("write"), expect("write", "R", a, 3);
    got += CALL(fstat, fd, &about, 0, 0);
    called("fstat"), expect("fstat", "W", &about, sizeof about);
    got += CALL(fstat, -1, &about, 0, 0);
    called("fstat");
    got += syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    called("clock_gettime"), expect("clock_gettime", "W", &time, sizeof time);
    got += syscall(SYS_msgrcv, -1L, 0L, 0L, 0L, 0L);
    called("70");
    got += CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
    called("socketpair"), expect("socketpair", "W", pair, 8);
    got += call(SYS_sendto, pair[0], (long)sent, 9, 0, 0, 0);
    got += call(SYS_recvfrom, pair[1], (long)b, 20, MSG_PEEK, 0, 0);
    called("sendto"), expect("sendto", "R", sent, 9), called("recvfrom"), expect("recvfrom", "W", b, 9);
    long poller = CALL(epoll_create1, 0, 0, 0, 0);
    got += CALL(epoll_ctl, poller, EPOLL_CTL_ADD, pair[0], events);
    got += CALL(epoll_ctl, poller, EPOLL_CTL_ADD, pair[1], events);
    got += CALL(epoll_wait, poller, events, 4, 0);
    called("epoll_create1"), called("epoll_ctl"), expect("epoll_ctl", "R", events, 12);
    called("epoll_ctl"), expect("epoll_ctl", "R", events, 12);
    called("epoll_wait"), expect("epoll_wait", "W", events, 24);
    got += __syscall_cp_asm(&flag, SYS_read, pair[1], b + 50, 400L, 0L, 0L, 0L);
    called("read"), expect("read", "W", b + 50, 9);
    got += any(SYS_fcntl, fd, 11 /* F_GETSIG */, b); /* of a known call something that is not known */
    called("fcntl");
    signal(SIGUSR1, handle);
    got += CALL(kill, getpid(), SIGUSR1, 0, 0) + handled;
    called("kill"), called("write"), expect("write", "R", letter, 1);
    called("exit_group");
    CALL(exit_group, got, 0, 0, 0);
    __builtin_unreachable();
}
C
cat >calls.s <<'S'
        .text
        .globl any
        .type any, @function
any:    mov %rdi, %rax
        mov %rsi, %rdi
        mov %rdx, %rsi
        mov %rcx, %rdx
        mov %r8, %r10
        mov %r9, %r8
        mov 8(%rsp), %r9
        syscall
        ret
        .size any, . - any
        .globl __syscall_cp_asm, cp_begin, cp_end
        .type __syscall_cp_asm, @function
__syscall_cp_asm:
cp_begin:
        mov (%rdi), %eax
        mov %rsi, %rax
        mov %rdx, %rdi
        mov %rcx, %rsi
        mov %r8, %rdx
        mov %r9, %r10
        mov 8(%rsp), %r8
        mov 16(%rsp), %r9
        syscall
cp_end: ret
        .size __syscall_cp_asm, . - __syscall_cp_asm
        .section .note.GNU-stack, "", @progbits
S
printf 'abcdefghijklmnopqrstuvwxyz' >input
gcc -O1 program.c calls.s -o plain || fail "cannot build"
status() {
    "$@" >out 2>expected && echo 0 || echo $?
}
plain=$(status ./plain input)
for flags in -O0 -O2 '-O2 -fno-pie -no-pie' '-O1 --quipu=moment,trace'; do
    # shellcheck disable=SC2086
    "$quipu" cc --quipu=trace -g $flags program.c calls.s -o program || fail "cannot build"
    status=$(status "$quipu" trace -o t -- ./program input)
    "$quipu" print t >t.text || fail "$flags: cannot print"
    awk '/^-- / { named = $4 == "system" ? $6 : ""; if (named) print named; next }
         !/^  / { named = "" } named { print named, $1, $2, $3 }' t.text >got
    diff expected got >difference || fail "$flags: $(cat difference)"
    ((status == plain)) || fail "$flags: it ends with $status, without quipu with $plain"
done
