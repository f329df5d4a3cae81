/* Threads, in each of which a debugger calls a function. */
#include <pthread.h>
#include <stdio.h>

enum {
    THREADS = 2
};

static _Thread_local int own = 1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int total;

int tell_own(int more) {
    return own + more;
}

static void stop(void) {
    total++;
}

static void *run(void *argument) {
    own = (int)(long)argument;
    pthread_mutex_lock(&mutex);
    stop();
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)((i + 2) * 100));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", total, tell_own(0));
    return 0;
}
