/* Fills a table of numbers, for a second or two, with few system calls: no instruction is passed
 * seldom.
 *
 *     filled ROUNDS [thread]
 *
 * With `thread` another thread does that. note() is called in each round. `quiet` is written at few
 * places of the run: 1, 2, 3 early, and at the half 4, 3, and never again. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SIZE = 1 << 8
};

_Alignas(4096) uint64_t quiet[512]; /* one is used; the page has nothing else */
static uint32_t table[SIZE];
static int rounds = 100;

static uint32_t mix(uint32_t value) {
    value ^= value << 13;
    value ^= value >> 17;
    return value ^ value << 5;
}

static uint32_t fill(uint32_t state) {
    for (size_t i = 0; i < SIZE; i++) {
        state = mix(state);
        table[i] = state;
    }
    return state;
}

static double smooth(void) {
    double sum = 0;
    for (size_t i = 1; i + 1 < SIZE; i++)
        sum += (double)(table[i - 1] + table[i] + table[i + 1]) / 3;
    return sum;
}

__attribute__((noinline)) void note(int round) {
    if (round < 3)
        quiet[0] = (uint64_t)round + 1;
    if (round == rounds / 2) {
        quiet[0] = 4;
        __asm__ volatile("" : : : "memory");
        quiet[0] = 3;
    }
}

static void *work(void *argument) {
    uint32_t state = 2463534242;
    for (int i = 0; i < rounds; i++) {
        state = fill(state);
        note(i);
        double sum = smooth();
        if (i % 50000 == 0)
            printf("%d %u %.0f\n", i, state, sum);
        else if (sum < 0)
            return NULL;
    }
    return argument;
}

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (argc <= 2)
        work(NULL);
    else if (pthread_create(&thread, NULL, work, NULL) == 0)
        pthread_join(thread, NULL);
    return 0;
}
