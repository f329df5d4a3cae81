// Threads, one after the other, so that each instruction of the run is the same when it is stepped;
// they recur, add atomically, fill by a repeated store, and make threads of their own.
// flags: -pthread
// watch: counter
// word: counter.counter
// same: where->counter
// same: *&places[1]->counter + 0
// looks: 10
// variants: -O0; -O2; -O2 -fno-pie -no-pie; clang -O2 -fPIE
#include <pthread.h>
#include <stdio.h>

struct place {
    unsigned long counter;
};

struct place counter;
struct place *where = &counter;
struct place *places[2] = {NULL, &counter};

__attribute__((noinline)) static unsigned long work(unsigned long n) {
    where->counter++;
    return n < 2 ? n : work(n - 1) + work(n - 2);
}

__attribute__((noinline)) static void fill(unsigned long value) {
    void *to = &places[1]->counter;
    unsigned long count = 1;
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(value) : "memory");
}

static void *start(void *argument) {
    unsigned long *value = argument, left = *value > 3 ? 2 : 0;
    *value = work(*value);
    for (unsigned long i = 0; i < 12; i++)
        *value ^= i * __atomic_fetch_add(&counter.counter, 100, __ATOMIC_SEQ_CST);
    fill(counter.counter + 17);
    pthread_t thread;
    if (left && pthread_create(&thread, NULL, start, &left) == 0)
        pthread_join(thread, NULL);
    return NULL;
}

int main(void) {
    unsigned long sum = work(4);
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        unsigned long value = 4 + (unsigned long)i;
        if (pthread_create(&thread, NULL, start, &value) || pthread_join(thread, NULL))
            return 1;
        sum += value;
    }
    sum += work(3);
    printf("%lu %lu\n", sum, counter.counter);
    return 0;
}
