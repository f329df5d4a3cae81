#!/bin/bash
# A stack for signals that is a variable: stores to the stack are checked where a region lies there.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'END'
#include <signal.h>
#include <string.h>
static char stack[65536], other[256];
static void on_signal(int number) {
    volatile long seen;
    seen = number;
}
int main(void) {
    stack_t there = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&there, 0);
    sigaction(SIGUSR1, &action, 0);
    raise(SIGUSR1);
    memset(other, 1, sizeof other);
    return 0;
}
END
for options in '-O2' '-O0' '-O2 -fno-plt' '-O2 -static'; do
    quipu cc --quipu=watch $options -g program.c -o program || fail "cannot build with $options"
    watches 0 -e 'stack[0..65535]' -- ./program
    [[ $(grep -c 'on_signal.*program\.c:6' hits) -eq 1 ]] || fail "$options: $(head hits)"
    watches 0 -e 'other' -- ./program
    [[ -s hits ]] && ! grep -q 'on_signal' hits || fail "$options: $(head hits)"
done

# memory of its own: no stack while there is one thread, and it is not said that it is one; then a
# stack for signals, one of a thread, or behind a second thread any memory
cat >own.c <<'END'
#include <pthread.h>
#include <quipu.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
enum { SIZE = 1 << 18 };
static volatile int hits, inside; // of the store alone: calls are compared
static char *memory;
static void hit(const struct quipu_write *write, void *argument) {
    hits += write != argument;
}
static void on_signal(int number) {
    volatile long seen;
    seen = number;
    inside = hits;
}
static void *run(void *argument) {
    on_signal(1);
    return argument;
}
static int hits_of(const char *way) {
    pthread_attr_t attributes;
    pthread_t thread;
    stack_t there = {.ss_sp = memory, .ss_size = SIZE};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    if (!strcmp(way, "signal")) {
        sigaltstack(&there, 0);
        sigaction(SIGUSR1, &action, 0);
        raise(SIGUSR1);
    } else if (!strcmp(way, "thread")) {
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, memory, SIZE);
        pthread_create(&thread, &attributes, run, 0);
        pthread_join(thread, 0);
    } else if (!strcmp(way, "unmapped")) {
        munmap(memory, SIZE);
        pthread_create(&thread, 0, run, 0);
        pthread_join(thread, 0);
        pthread_create(&thread, 0, run, 0);
        pthread_join(thread, 0);
    }
    return inside;
}
int main(int count, char **words) {
    memory = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (count != 2 || quipu_watch_create(memory, SIZE, hit, 0) < 0)
        return 2;
    printf("%d\n", hits_of(words[1]) > 0);
    return 0;
}
END
for options in '-O2' '-O0' '-O2 -static'; do
    quipu cc --quipu=watch $options -g -pthread -I"$top/include" own.c -o own ||
        fail "cannot build own.c with $options"
    for way in none signal thread unmapped; do
        ends 0 ./own $way
        [[ $way = unmapped || $(cat output) -eq $([[ $way = none ]]; echo $?) ]] ||
            fail "$options: $way: $(cat output)"
    done
done
leaves_nothing
