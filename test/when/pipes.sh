#!/bin/bash
# Checkpoints hold nothing that others wait for: a filter that the program writes to ends when the
# program has closed its pipe, a reader of a socket sees its end, and who writes to nobody is told so.
. "$(dirname "$0")/../bad/lib.bash"
make_program program --quipu=moment -O1 -g <<'EOT'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long count;
__attribute__((noinline)) static void work(void) { /* long enough for checkpoints */
    for (long i = 0; i < 3000000; i++)
        count++;
}
static void run_filter(void) {
    FILE *filter = popen("cat", "w");
    work();
    fputs("filtered\n", filter);
    if (pclose(filter) != 0)
        count = -1;
}
static void run_reader(void) {
    int ends[2];
    char c;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return;
    pid_t child = fork();
    if (!child) {
        close(ends[0]);
        while (read(ends[1], &c, 1) > 0)
            ;
        _exit(7);
    }
    close(ends[1]);
    work();
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != 7)
        count = -2;
}
static void write_to_nobody(void) {
    int ends[2];
    if (pipe(ends))
        return;
    work();
    close(ends[0]);
    work();
    if (write(ends[1], "x", 1) != -1 || errno != EPIPE)
        count = -3;
    close(ends[1]);
}
static void unlock(void) { /* the lock is the open file's */
    int file = open("lock", O_CREAT | O_RDWR, 0600);
    flock(file, LOCK_EX);
    work();
    close(file);
    file = open("lock", O_RDWR);
    if (flock(file, LOCK_EX | LOCK_NB))
        count = -4;
    close(file);
}
int main(void) {
    signal(SIGPIPE, SIG_IGN);
    run_filter();
    run_reader();
    write_to_nobody();
    unlock();
    return count < 0;
}
EOT
ends 0 timeout 60 quipu when 'count >= 14000000' -- ./program
grep -qx filtered output || fail "the filter said nothing: $(cat output)"
grep -qE '^  count +13999999, then 14000000$' output || fail "$(cat output)"
ends 1 timeout 60 quipu when 'count < 0' -- ./program
said "has ended (exit status 0)"
