// Threads: each has counts of its own.
// flags: -pthread
// variants: -O0; -O2; clang -O2
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 6 };

__attribute__((noinline)) static int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void *start(void *argument) {
    int *value = argument;
    *value = fibonacci(*value);
    for (int i = 0; i < 40; i++)
        *value ^= i * *value;
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int values[THREADS], sum = 0;
    for (int i = 0; i < THREADS; i++) {
        values[i] = 5 + i;
        if (pthread_create(&threads[i], NULL, start, &values[i]))
            return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += values[i];
    }
    printf("%d\n", sum);
    return 0;
}
