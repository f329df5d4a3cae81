// Threads that say where they are: the moment, as quipu names it, and what they have counted. The
// first one waits for them.
#include <pthread.h>
#include <quipu.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned long shared; // changed without a lock
static unsigned long own[4];

__attribute__((noinline)) static void change(int number) {
    own[number]++;
    shared = shared * 3 + own[number];
}

static void say(int number) {
    struct quipu_moment moment = quipu_now();
    char text[200], line[300];
    quipu_print_moment(&moment, text, sizeof text);
    int size = snprintf(line, sizeof line, "%s %d %lu\n", text, number, own[number]);
    if (write(1, line, (size_t)size) != size)
        _exit(1);
}

static void *work(void *number) {
    int me = *(int *)number;
    for (int i = 1; i <= 40000; i++) {
        change(me);
        if (i % 10000 == 0)
            say(me);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int numbers[3] = {1, 2, 3};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%lx\n", shared);
    return 0;
}
