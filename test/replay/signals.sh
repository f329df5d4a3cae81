#!/bin/bash
# Signals come in at the same places in a replay, with the same frames: see parts/signals.c.
# timeout: 300
. "$(dirname "$0")/lib.bash"
ulimit -c 0
make_plain signals signals.c -O2
for _ in 1 2 3; do
    repeats 139 ./signals 2>/dev/null
    grep -q 'signal 14' recorded.out || fail "no timer's signal came"
    grep -q 'signal 34, code -1, value 42' recorded.out || fail "no queued signal came"
done
repeats 134 ./signals abort 2>/dev/null
for mode in count moment; do
    make_program "by-$mode" --quipu=$mode -O1 <"$here/parts/signals.c"
    repeats 139 "./by-$mode" 2>/dev/null
done

# From outside: one with a handler, in a call that waits, and one that ends the program.
cat >waits.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void handle(int number) { printf("got %d\n", number); }
int main(void) {
    signal(SIGUSR1, handle);
    puts("begins");
    fflush(stdout);
    for (int i = 0; i < 3; i++)
        pause();
    fflush(stdout);
    pause();
}
END
gcc -O1 -o waits waits.c || fail "cannot build 'waits'"
quipu record -o run.rec -- ./waits >recorded.out 2>recorded.err &
recorder=$!
awaits grep -q begins recorded.out
program=$(pgrep -P $recorder)
for _ in 1 2 3; do
    awaits is_in "$program" S
    kill -USR1 "$program"
    sleep 0.1
done
awaits grep -q 'got 10' recorded.out
kill -TERM "$program"
wait $recorder 2>/dev/null
[[ $? -eq 143 ]] || fail "the recorder has not ended as the program"
replays 143 2>/dev/null
cmp recorded.out replayed.out || fail "'waits': the replay has another standard output"
[[ $(grep -c 'got 10' replayed.out) -eq 3 ]] || fail "not all signals are in the replay"

# Where the stack has no room for a handler's frame SIGSEGV comes in place of the signal, with its handler on another
# stack, or it ends the process. The stack ends at the limit that the program has set.
cat >overflows.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static char other[65536];
static volatile int depth;
static void say(int number) { printf("signal %d at depth %d\n", number, depth); fflush(stdout); _exit(number); }
static int recurse(int left) { volatile char frame[1000] = {0}; depth++; return left ? recurse(left - 1) + frame[9] : 0; }
static void run(const char *name, int has_other, int raises) {
    struct sigaction ordinary = {.sa_handler = say}, on_other = {.sa_handler = say, .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    struct rlimit limit = {300000, 300000};
    int status;
    if (fork() == 0) {
        sigaction(SIGILL, &ordinary, NULL);
        sigaction(SIGUSR1, &ordinary, NULL);
        sigaction(SIGSEGV, has_other ? &on_other : &ordinary, NULL);
        if (has_other)
            sigaltstack(&stack, NULL);
        setrlimit(RLIMIT_STACK, &limit);
        if (raises)
            asm volatile("mov %0, %%rsp; mov %1, %%eax; syscall; ud2" ::"r"(8192l), "i"(39) : "rax", "rcx", "r11");
        recurse(1000000);
    }
    wait(&status);
    printf("%s: status %x\n", name, status & ~128);
    fflush(stdout);
}
int main(void) {
    run("overflow", 0, 0);
    run("overflow, another stack", 1, 0);
    run("ud2", 0, 1);
    run("ud2, another stack", 1, 1);
    return 3;
}
END
gcc -O1 -w -o overflows overflows.c || fail "cannot build 'overflows'"
repeats 3 ./overflows
./overflows >plain.out
cmp <(grep status plain.out) <(grep status recorded.out) || fail "'overflows' does something else when it is recorded"
