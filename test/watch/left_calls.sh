#!/bin/bash
# Calls that never return: their thread was cancelled in them, has ended in what they called back, or
# has gone to another stack.  What is changed later where they would have written is told.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'EOT'
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
char buffer[64];
static int ends[2];
static volatile pid_t number;
static ucontext_t first;
ucontext_t second;
static char stack[65536];
static void *reads(void *argument) {
    number = gettid();
    read(ends[0], buffer, 60);
    return argument;
}
static int leave(const void *a, const void *b) {
    (void)a, (void)b;
    pthread_exit(NULL);
}
static void *sorts(void *argument) {
    number = gettid();
    qsort(buffer, 8, 1, leave);
    return argument;
}
static void join(pthread_t thread) {
    pthread_join(thread, NULL);
    while (syscall(SYS_tgkill, getpid(), number, 0) == 0)
        usleep(100); /* the kernel says so a bit later */
}
static void away(void) {
    swapcontext(&second, &first);
}
int main(int argc, char **argv) {
    pthread_t thread;
    (void)argv;
    if (argc > 1) {
        getcontext(&second);
        second.uc_stack.ss_sp = stack;
        second.uc_stack.ss_size = sizeof stack;
        second.uc_link = NULL;
        makecontext(&second, away, 0);
        second.uc_flags = 0; /* compares what has changed up to here */
        memfrob(stack, 1);
        swapcontext(&first, &second);
        _exit(0);
    }
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, NULL, reads, NULL);
    while (!number)
        usleep(100);
    usleep(20000);
    pthread_cancel(thread);
    join(thread);
    memfrob(buffer, 2);
    memcpy(buffer, "hgfedcba", 8);
    pthread_create(&thread, NULL, sorts, NULL);
    join(thread);
    memfrob(buffer + 4, 2);
    return 0;
}
EOT
for level in -O0 -O2; do
    quipu cc --quipu=watch -w $level -g -pthread program.c -o program || fail "cannot build"
    watches 0 --if 'old != new' -e buffer -- ./program
    grep -qE 'buffer\[0..1\]  "" [~-]> "\*\*"' hits || fail "$level: cancelled: $(cat hits)"
    grep -qE 'buffer\[4..5\]  "dc" [~-]> "NI"' hits || fail "$level: ended: $(cat hits)"
    [[ $(grep -cv memfrob hits) -eq 1 ]] || fail "$level: $(cat hits)"
    watches 0 -e second.uc_mcontext -- ./program stacks
    grep -qE 'call swapcontext.*changed during' < <(tail -n 1 hits) || fail "$level: stacks: $(cat hits)"
done
leaves_nothing
