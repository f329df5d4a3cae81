// pthread_cancel of threads that wait, with cleanup handlers on the way.
// flags: -pthread
// by-callgrind
// variants: -O0; -O2; clang -O2; -O2 -fexceptions
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int cleaned;
static int ends[2];

static void clean(void *argument) {
    cleaned += *(int *)argument;
}

__attribute__((noinline)) static int waits(int depth) {
    int weight = depth, got = 0;
    pthread_cleanup_push(clean, &weight);
    if (depth == 0) {
        char byte;
        got = (int)read(ends[0], &byte, 1);
    } else {
        got = waits(depth - 1);
    }
    pthread_cleanup_pop(0);
    return got + depth;
}

static void *start(void *argument) {
    (void)argument;
    waits(4);
    return NULL;
}

int main(void) {
    int cancelled = 0;
    if (pipe(ends))
        return 1;
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, start, NULL);
        usleep(20000); /* it stands in read; if it does not yet, read is where it is cancelled */
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("%d %d\n", cancelled, cleaned);
    return 0;
}
