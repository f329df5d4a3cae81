#!/bin/bash
# Threads run in turns of ticks, in the same order each time, whatever else the machine does: the same
# moment of a race is found, and the program prints the same.
# timeout: 120
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
make_program race --quipu=moment -g -O1 -pthread <<'EOT'
#include <pthread.h>
#include <stdio.h>
volatile long counter, done;
static void *run(void *argument) {
    for (long i = 0; i < 20000000; i++)
        counter = counter + 1;
    done++;
    return argument;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    printf("%ld\n", counter);
    return 0;
}
EOT
make_program queue --quipu=moment -g -O1 -pthread <<'EOT'
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long queue[64], head, tail, sum;
volatile long full, done;
static void *produce(void *argument) {
    for (long i = 0; i < 2000; i++) {
        pthread_mutex_lock(&lock);
        while (head - tail == 64)
            pthread_cond_wait(&changed, &lock);
        queue[head++ % 64] = i + (long)argument;
        full += head - tail > 60;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        if (i % 100 == 7)
            sched_yield();
    }
    done++;
    return argument;
}
static void *consume(void *argument) {
    for (long i = 0; i < 2000; i++) {
        pthread_mutex_lock(&lock);
        while (head == tail)
            pthread_cond_wait(&changed, &lock);
        sum += queue[tail++ % 64];
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    done++;
    return argument;
}
int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, i % 2 ? consume : produce, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    printf("%ld %ld\n", sum, full);
    return 0;
}
EOT
trap 'kill $(jobs -p) 2>/dev/null' EXIT
for program in race queue; do
    for run in 1 2 3 4 5; do
        if [[ $run == 3 ]]; then # from here on the machine is busy
            for _ in 1 2 3; do
                bash -c 'while :; do :; done' &
            done
        fi
        quipu when 'done == 2' -- ./$program >found 2>messages || fail "$program: $(cat messages)"
        grep moment found >>moments.$program
    done
    [[ $(sort -u moments.$program | wc -l) == 1 ]] || fail "$program: $(sort moments.$program | uniq -c)"
    kill $(jobs -p)
done
