// Threads with races: the result depends on which thread comes when.  They wait for each other by
// mutexes, condition variables, barriers, semaphores, and by loops with sched_yield.  One makes
// further threads and processes, the last thread ends the process.
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 4,
    ROUNDS = 150
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int queue, done;
static volatile unsigned long mixed;
static atomic_int turn;
static _Thread_local int own;

static void handle(int number) {
    mixed = mixed * 7 + (unsigned long)number + (unsigned long)own;
}

/* A race: nothing protects it. */
static void mix(unsigned long number) {
    unsigned long seen = mixed;
    if (number % 5 == 0)
        getppid();
    mixed = seen * 31 + number;
}

static void *take(void *argument) {
    own = (int)(long)argument;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        while (!queue && !done)
            pthread_cond_wait(&condition, &mutex);
        if (!queue) {
            pthread_mutex_unlock(&mutex);
            break;
        }
        queue--;
        pthread_mutex_unlock(&mutex);
        mix((unsigned long)(i + own));
        if (i % 7 == 0)
            usleep(50);
        if (i % 11 == 0)
            sched_yield();
    }
    sem_post(&semaphore);
    return (void *)(mixed & 0xff);
}

static void *echo(void *argument) {
    return argument;
}

/* Threads and processes of a thread. */
static void *make(void *argument) {
    long sum = 0;
    for (long i = 0; i < 10; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, echo, (void *)i);
        if (i % 3 == 0 && fork() == 0) {
            printf("child %d of %d: %lx\n", (int)getpid(), (int)getppid(), mixed);
            exit((int)i);
        }
        pthread_join(thread, &result);
        sum += (long)result;
    }
    for (int status; wait(&status) > 0;)
        sum += WEXITSTATUS(status);
    return (void *)(sum + (argument != NULL));
}

/* Two threads that take turns, by a loop. */
static void *alternate(void *argument) {
    for (int i = 0; i < 20; i++) {
        while (atomic_load(&turn) % 2 != (long)argument)
            sched_yield();
        mix((unsigned long)argument + 3);
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}

static void *end(void *argument) {
    pthread_join(*(pthread_t *)argument, NULL);
    printf("%lx\n", mixed);
    exit(6);
}

int main(void) {
    pthread_t threads[THREADS], maker, two[2], last, self = pthread_self();
    const struct timespec pause = {0, 300000};
    void *result;
    signal(SIGUSR1, handle);
    setvbuf(stdout, NULL, _IOLBF, 0);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    sem_init(&semaphore, 0, 0);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take, (void *)(i + 1));
    pthread_create(&maker, NULL, make, NULL);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS * ROUNDS / 2; i++) {
        pthread_mutex_lock(&mutex);
        queue++;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
        if (i % 40 == 0)
            nanosleep(&pause, NULL);
        if (i % 60 == 0)
            pthread_kill(threads[i / 60 % THREADS], SIGUSR1);
    }
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < THREADS; i++) {
        sem_wait(&semaphore);
        pthread_join(threads[i], &result);
        printf("%ld ", (long)result);
    }
    pthread_join(maker, &result);
    for (long i = 0; i < 2; i++)
        pthread_create(&two[i], NULL, alternate, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(two[i], NULL);
    printf("%ld %lx\n", (long)result, mixed);
    pthread_create(&last, NULL, end, &self);
    pthread_exit(NULL);
}
