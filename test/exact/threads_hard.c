// Sixty-four threads race through one loop for long: not one increment may be lost.
// flags: -pthread
// variants: -O1; -O3; clang -O2
// by-callgrind
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 64, ROUNDS = 20000 };

static pthread_barrier_t barrier;

__attribute__((noinline)) static unsigned shuffle(unsigned seed) {
    for (int i = 0; i < ROUNDS; i++)
        seed = seed & 4 ? seed * 5 + 1 : (seed >> 1) + 7;
    return seed;
}

static void *start(void *argument) {
    unsigned *seed = argument;
    pthread_barrier_wait(&barrier);
    *seed = shuffle(*seed);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    unsigned seeds[THREADS], sum = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i * 17;
        pthread_create(&threads[i], NULL, start, &seeds[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += seeds[i];
    }
    printf("%u\n", sum);
    return 0;
}
