// Three thousand threads, one behind the other or eight at a time; slots are handed on.
// flags: -pthread
// variants: -O2; clang -O2
// by-callgrind
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 375, AT_A_TIME = 8 };

static void *start(void *argument) {
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += i ^ *(int *)argument;
    *(int *)argument = sum;
    return NULL;
}

int main(void) {
    long total = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[AT_A_TIME];
        int values[AT_A_TIME];
        for (int i = 0; i < AT_A_TIME; i++) {
            values[i] = round + i;
            if (pthread_create(&threads[i], NULL, start, &values[i]))
                return 1;
        }
        for (int i = 0; i < AT_A_TIME; i++) {
            pthread_join(threads[i], NULL);
            total += values[i];
        }
    }
    printf("%ld\n", total);
    return 0;
}
