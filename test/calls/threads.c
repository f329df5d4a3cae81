// Threads that end in all ways, more of them than live at a time, each with a tree; and mutexes.
// flags: -pthread
// least: 10
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static __attribute__((noinline)) long work(long n) {
    return n < 2 ? 1 : work(n - 1) + work(n - 2);
}

static __attribute__((noinline)) void add(long n) {
    pthread_mutex_lock(&lock);
    total += n;
    pthread_mutex_unlock(&lock);
}

static void *plain(void *argument) {
    add(work((long)argument));
    return NULL;
}

static __attribute__((noinline)) void leave(long n) {
    add(work(n));
    if (n > 3)
        pthread_exit(NULL);
    leave(n + 1);
}
static void *exiting(void *argument) {
    leave((long)argument);
    return NULL;
}

static void clean(void *argument) {
    add((long)argument);
}
static void *cleaning(void *argument) {
    pthread_cleanup_push(clean, argument);
    leave((long)argument);
    pthread_cleanup_pop(1);
    return NULL;
}

static void *starting(void *argument) {
    pthread_t child;
    pthread_create(&child, NULL, plain, argument);
    add(work(3));
    pthread_join(child, NULL);
    return NULL;
}

int main(void) {
    static void *(*const starts[])(void *) = {plain, exiting, cleaning, starting};
    for (long round = 0; round < 5; round++) {
        pthread_t threads[4];
        for (long i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, starts[i], (void *)(round + i));
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%ld\n", total);
    return 0;
}
