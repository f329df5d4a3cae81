/* What runs while test/watch/pid.sh comes and goes: threads that wait in the kernel, compute,
 * write. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct node {
    int value;
    struct node *next;
};
static struct node nodes[2] = {{1, &nodes[1]}, {2, NULL}};
struct node *head = &nodes[0];
volatile uint64_t beats;     /* of the ticker */
volatile double product = 1; /* of the thread that computes */
volatile int unused;
static volatile int over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(3);
}

/* A nap that is broken off has its whole time all the same. */
static void *tick(void *unused_argument) {
    (void)unused_argument;
    while (!over) {
        struct timespec nap = {0, 2000000};
        if (nanosleep(&nap, NULL) != 0)
            failed("nanosleep");
        beats++;
        head->value = (int)beats;
    }
    return NULL;
}

/* Vector registers must keep what they hold. */
static void *compute(void *rounds) {
    double a[8], sum = 0;
    for (int i = 0; i < 8; i++)
        a[i] = i;
    while (!over) {
        for (int n = 0; n < 100000; n++)
            for (int i = 0; i < 8; i++)
                a[i] = a[i] * 0.5 + i;
        for (int i = 0; i < 8; i++)
            if (a[i] - 2 * i > 1e-9 || 2 * i - a[i] > 1e-9)
                failed("vector registers");
        product = sum += 1;
    }
    *(double *)rounds = sum;
    return NULL;
}

static void *wait_epoll(void *unused_argument) {
    (void)unused_argument;
    struct epoll_event event;
    int set = epoll_create1(0);
    while (!over)
        if (epoll_wait(set, &event, 1, 1000) < 0)
            failed("epoll_wait");
    return NULL;
}

static void *wait_futex(void *unused_argument) {
    (void)unused_argument;
    pthread_mutex_lock(&mutex);
    while (!over)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[4];
    char line[64];
    double rounds = 0;
    if (argc > 1 && strcmp(argv[1], "sigtrap") == 0)
        signal(SIGTRAP, SIG_IGN);
    pthread_create(&threads[0], NULL, tick, NULL);
    pthread_create(&threads[1], NULL, compute, &rounds);
    pthread_create(&threads[2], NULL, wait_epoll, NULL);
    pthread_create(&threads[3], NULL, wait_futex, NULL);
    puts("ready");
    fflush(stdout);
    int lines = 0;
    ssize_t size;
    while ((size = read(0, line, sizeof line)) > 0)
        for (ssize_t i = 0; i < size; i++)
            lines += line[i] == '\n';
    if (size < 0)
        failed("read");
    over = 1;
    pthread_cond_broadcast(&condition);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d lines, beats %s, product %s\n", lines, beats > 10 ? "many" : "few",
           product == rounds ? "right" : "wrong");
    return 7;
}
