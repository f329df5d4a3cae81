#!/bin/bash
# trace_process.sh: 'quipu trace --pid' records a process that runs already, again and again, from any point of
# its threads, and its later threads and children.
# timeout: 240
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define OWN __attribute__((noinline)) static
static volatile int stop;
OWN unsigned mix(unsigned x, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        x = x * 1103515245 + (x & 1 << 20 ? i : 12345);
    return x;
}
OWN void *run(void *argument) {
    unsigned *x = argument;
    while (!stop) {
        *x = mix(*x, 20000) + *x;
        usleep(200);
    }
    return NULL;
}
OWN void child(unsigned x) { _exit((int)(mix(x, 1000) & 1)); }
int main(void) {
    unsigned values[2] = {1, 2}, x = 3;
    pthread_t thread;
    pthread_create(&thread, NULL, run, values);
    puts("runs");
    fflush(stdout);
    while (!access("run", F_OK)) {
        x = mix(x, 20000);
        usleep(200);
        if (!access("fork", F_OK)) { /* one at a time: children wait for the recording */
            if (!fork())
                child(x);
            wait(NULL);
        }
    }
    stop = 1;
    return pthread_join(thread, NULL);
}
C
for mode in trace moment,trace; do # in the second one the code of records is left out at first
    "$quipu" cc --quipu=$mode -O2 -g -pthread program.c -o program || fail "$mode: cannot build"
    touch run
    rm -f out
    ./program >out &
    program=$!
    trap 'rm -f run fork; wait' EXIT
    until [ -s out ]; do sleep 0.05; done

    for round in 1 2; do
        "$quipu" trace --pid=$program --seconds=2 --first=1000000 -o $round.trace >got 2>&1 || fail "$mode, round $round: $(cat got)"
        "$quipu" info $round.trace >info 2>&1 || fail "$mode, round $round: $(cat info)"
        grep '^  threads  *2$' info >/dev/null || fail "$mode, round $round: $(cat info)"
        "$quipu" print --first=200000 $round.trace >rows 2>err || fail "$mode, round $round: $(cat err)"
        [ "$(grep -c '^-- not traced: not recorded$' rows)" = 2 ] || fail "$mode, round $round: what ran before is not marked"
        grep ' run+' rows >/dev/null || fail "$mode, round $round: nothing of 'run', which waited for its call"
        grep ' ?$' rows && fail "$mode, round $round: an address is not known"
    done
    touch fork
    "$quipu" trace --pid=$program --seconds=2 --first=1000000 -o fork.trace >got 2>&1 || fail "$mode, with children: $(cat got)"
    rm fork
    "$quipu" print --function=child fork.trace >rows 2>err || fail "$mode, with children: $(cat err)"
    grep ' child+0x0 ' rows >/dev/null || fail "$mode: children are not recorded"

    "$quipu" trace --pid=$program -o end.trace >got 2>&1 &
    recorder=$!
    until [ -L "/dev/shm/quipu-trace-attach.$program" ]; do sleep 0.05; done
    sleep 0.1
    rm run
    wait $recorder || fail "$mode, until the end: $(cat got)"
    "$quipu" print --function=main end.trace 2>/dev/null >rows
    grep '^-- not traced: caller of main$' rows >/dev/null || fail "$mode: the end is not there: $(tail -n 3 rows)"
done

sleep 60 &
other=$!
! "$quipu" trace --pid=$other >got 2>&1 || fail "a process without records is accepted"
grep "process $other has no code that records; build its program with" got >/dev/null || fail "$(cat got)"
kill $other
! "$quipu" trace --pid=$program >got 2>&1 || fail "a process that has ended is accepted"
! "$quipu" trace --seconds=1 -- ./program >got 2>&1 || fail "--seconds is accepted for a program"
[ -z "$(ls /dev/shm | grep "^quipu-trace-attach.$program\$")" ] || fail "the link stays"
