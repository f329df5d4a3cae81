// Threads, one after the other: moments of the second and third are found too, and cells that a
// thread takes over from one that is gone count from 0 again.  What is watched changes only while the
// first thread is in a call of the C library: so it is the same at each visit.
// flags: -pthread
// watch: counter
// visits: 40
// variants: -O0; -O2; -O2 -fno-pie -no-pie; clang -O2 -fPIE
#include <pthread.h>
#include <stdio.h>

volatile unsigned long counter;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;

__attribute__((noinline)) static unsigned long work(unsigned long n) {
    counter++;
    return n < 2 ? n : work(n - 1) + work(n - 2);
}

static void *start(void *argument) {
    unsigned long *value = argument;
    pthread_mutex_lock(&mutex); // free once the first thread waits
    *value = work(*value);
    for (int i = 0; i < 20; i++)
        *value ^= (unsigned long)i * ++counter;
    done++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    unsigned long sum = 0;
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        unsigned long value = 4 + (unsigned long)i;
        pthread_mutex_lock(&mutex);
        if (pthread_create(&thread, NULL, start, &value))
            return 1;
        while (done == i)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
        if (pthread_join(thread, NULL))
            return 1;
        sum += value + work(3);
    }
    printf("%lu\n", sum);
    return 0;
}
