// Processes with shared memory: anonymous, a memfd, a file, System V's is refused.  They race, wait
// for each other in loops, and hold locks when they end: robust ones, and such that inherit
// priority.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SIZE = 8192,
    CHILDREN = 3
};

struct shared {
    pthread_mutex_t mutex, robust, inherits;
    unsigned long mixed;
    int turn, locked;
};

static const char *kind;

static int open_shared(int flags) {
    return strcmp(kind, "file") == 0 ? open("mapped", O_RDWR | flags, 0600)
                                     : memfd_create("mapped", 0);
}

static struct shared *map(int flags) {
    if (strcmp(kind, "anonymous") == 0)
        return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int file = open_shared(flags);
    if (file < 0 || ftruncate(file, SIZE) != 0)
        abort();
    struct shared *shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return shared;
}

static void begin(struct shared *shared) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&shared->inherits, &attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_NONE);
    pthread_mutex_init(&shared->robust, &attributes);
}

static void run(struct shared *shared, int number) {
    if (strcmp(kind, "file") == 0)
        shared = map(0); /* at another address, by itself */
    for (int i = 0; i < 60; i++) {
        pthread_mutex_t *mutex = i % 2 ? &shared->mutex : &shared->inherits;
        pthread_mutex_lock(mutex);
        shared->mixed = shared->mixed * 31 + (unsigned long)number;
        if (i % 20 == 0)
            usleep(200);
        pthread_mutex_unlock(mutex);
        shared->mixed ^= (unsigned long)getpid(); /* a race */
    }
    for (int i = 0; i < 5; i++) {
        while (shared->turn % CHILDREN != number)
            sched_yield();
        shared->mixed += (unsigned long)number;
        shared->turn++;
    }
    if (number == 1) {
        pthread_mutex_lock(&shared->robust);
        shared->locked = 1;
        pause(); /* it is killed with the lock */
    }
    _exit(number);
}

int main(int argc, char **argv) {
    int status;
    pid_t child, children[CHILDREN];
    kind = argc > 1 ? argv[1] : "anonymous";
    struct shared *shared = map(O_CREAT | O_EXCL);
    begin(shared);
    for (int i = 0; i < CHILDREN; i++)
        if ((children[i] = fork()) == 0)
            run(shared, i);
    while (!*(volatile int *)&shared->locked)
        usleep(500);
    kill(children[1], SIGKILL);
    while ((child = wait(&status)) > 0)
        printf("%d ended with %x\n", (int)child, status);
    printf("%lx %d, lock: %d\n", shared->mixed, shared->turn, pthread_mutex_lock(&shared->robust));
    return 4;
}
