/* The program of test/harness/linkers: threads one after the other, a function of an archive, one
 * of a library, and with -DDROPPED one that only --gc-sections lets the program be linked without.
 */
#include "parts.h"

#include <pthread.h>
#include <quipu.h>
#include <stdio.h>

int total;
static int alarms;

#ifdef DROPPED
int not_there(int n);

int never_called(int n) {
    return n ? not_there(n - 1) : n;
}
#endif

static void ring(const struct quipu_moment *moment, void *argument) {
    (void)moment;
    ++*(int *)argument;
}

NOIPA void add(int n) {
    total += n;
}

/* Linkers that merge identical functions must not merge these where each has counters of its own.
 */
NOIPA void alike(int n) {
    total ^= n;
}

NOIPA void like_it(int n) {
    total ^= n;
}

NOIPA static void *work(void *argument) {
    int *sum = argument;
    for (int i = 0; i < 1000; i++)
        *sum += part(i);
    return NULL;
}

int main(void) {
    quipu_after(500, ring, &alarms);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        int sum = 0;
        if (pthread_create(&thread, NULL, work, &sum) || pthread_join(thread, NULL))
            return 1;
        add(sum);
    }
    for (int i = 0; i < 100; i++)
        add(archived(i) + library(i));
    for (int i = 0; i < 20; i++)
        (i % 4 ? alike : like_it)(i / 2 * 6);
    struct quipu_moment now = quipu_now();
    printf("%d %d %llu\n", total, alarms, (unsigned long long)now.ticks);
    return 0;
}
