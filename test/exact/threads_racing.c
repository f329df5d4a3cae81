// Many threads in one function at once; each does a fixed work, none waits for another by turning.
// flags: -pthread
// variants: -O0; -O2; -O3; clang -O2
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 24 };

static pthread_barrier_t barrier;

__attribute__((noinline)) static unsigned shuffle(unsigned seed, int rounds) {
    for (int i = 0; i < rounds; i++)
        seed = seed % 3 ? seed * 5 + 1 : seed / 3 + 7;
    return seed;
}

static void *start(void *argument) {
    unsigned *seed = argument;
    pthread_barrier_wait(&barrier);
    *seed = shuffle(*seed, 60);
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
