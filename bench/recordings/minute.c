/* Four threads that compute, take turns by a lock, and write a little, for so many seconds of one
 * processor, about:
 *
 *     minute SECONDS
 *
 * note() is called a million times, up to the end. `quiet` is written for the last time at a half
 * of the run, and so is `busy`, but that is among words that are always written. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    THREADS = 4,
    TABLE = 1 << 16,
    PAGE = 4096,
    NOTES = 1000000
};

_Alignas(PAGE) uint64_t quiet[PAGE / sizeof(uint64_t)]; /* one is used */
_Alignas(PAGE) struct { uint64_t value, counts[THREADS]; } busy;
_Alignas(PAGE) static uint32_t tables[THREADS][TABLE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned rounds;

/* A call that is passed often. */
__attribute__((noinline)) void note(uint64_t *count) {
    __asm__ volatile("" : : : "memory");
    ++*count;
}

static uint32_t mix(uint32_t value) {
    value ^= value << 13;
    value ^= value >> 17;
    return value ^ value << 5;
}

static uint32_t fill(uint32_t *table, uint32_t state) {
    for (size_t i = 0; i < TABLE; i++) {
        state = mix(state);
        table[state % TABLE] += state;
    }
    return state;
}

static void *work(void *argument) {
    unsigned number = (unsigned)(uintptr_t)argument, noted = 0;
    uint32_t state = 2463534242 + number;
    for (unsigned i = 0; i < rounds; i++) {
        state = fill(tables[number], state);
        for (; noted < (uint64_t)(i + 1) * (NOTES / THREADS) / rounds; noted++)
            note(&busy.counts[number]);
        if (number == 0 && i <= rounds / 2)
            quiet[0] = busy.value = i;
        pthread_mutex_lock(&lock);
        if (i % (1 + rounds / 64) == 0)
            printf("%u: %u\n", number, state);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv) {
    enum {
        ROUNDS_A_SECOND = 1500
    };
    pthread_t threads[THREADS];
    rounds = (unsigned)(argc > 1 ? atoi(argv[1]) : 1) * ROUNDS_A_SECOND;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%llu %llu\n", (unsigned long long)quiet[0], (unsigned long long)busy.value);
    return 0;
}
