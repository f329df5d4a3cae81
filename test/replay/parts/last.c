/* last.c: threads that pass a turn, a child that shares memory with its maker, short programs,
 * timers whose handlers have a stack of their own, thread-local numbers: about a second of them,
 * or as many as TURNS says.
 * With an argument, the first thread ends before the others do.  Ends with status 5, or then 0. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef TURNS
#define TURNS 250
#endif

enum {
    THREADS = 4
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long sum, turns;
static volatile sig_atomic_t alarms;
static int *anonymous, *file;
static __thread double mine = 1.5;

static void count_alarm(int number) {
    (void)number;
    alarms++;
}

static void *work(void *argument) {
    long number = (long)argument;
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&lock);
        turns++;
        mine *= 1.0001;
        sum = sum * 31 + (unsigned long)number + (unsigned long)(mine * 1000);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        if (i % THREADS == number)
            usleep(10000);
        else
            sched_yield();
        for (volatile int k = 0; k < 20000; k++)
            ;
        if (i % 10 == 0) {
            printf("thread %ld turn %d: %.6f\n", number, i, mine);
            fflush(stdout);
        }
    }
    printf("thread %ld: %.6f\n", number, mine);
    fflush(stdout);
    return NULL;
}

static void read_all(int pipe) {
    char bytes[64];
    while (read(pipe, bytes, sizeof bytes) > 0) {
        __sync_fetch_and_add(anonymous, 1);
        file[1]++;
        if (file[1] % 10 == 0) {
            printf("child %d\n", *anonymous);
            fflush(stdout);
        }
    }
    _exit(3);
}

static void begin_alarms(void) {
    static char stack[1 << 16];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction action = {.sa_handler = count_alarm,
                                     .sa_flags = SA_ONSTACK | SA_RESTART};
    const struct itimerval timer = {{0, 7000}, {0, 7000}};
    sigaltstack(&alternate, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void run_program(void) {
    pid_t child = fork();
    if (!child) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv) {
    (void)argv;
    pthread_t threads[THREADS];
    int to_child[2], status = 0, memory = memfd_create("file", 0);
    if (pipe(to_child) != 0 || memory < 0 || ftruncate(memory, 4096) != 0)
        return 1;
    anonymous = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    pid_t child = fork();
    if (!child) {
        close(to_child[1]);
        read_all(to_child[0]);
    }
    begin_alarms();
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    if (argc > 1)
        pthread_exit(NULL);
    for (int i = 0; turns < THREADS * TURNS; i++) {
        pthread_mutex_lock(&lock);
        for (unsigned long seen = turns; turns == seen && turns < THREADS * TURNS;)
            pthread_cond_wait(&changed, &lock);
        printf("%d %lu %d %d %d\n", i, sum, (int)alarms, *anonymous, file[1]);
        fflush(stdout);
        pthread_mutex_unlock(&lock);
        if (write(to_child[1], "x", 1) != 1)
            return 1;
        if (i % 10 == 0)
            run_program();
        poll(NULL, 0, 3);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    close(to_child[1]);
    while (waitpid(child, &status, 0) < 0)
        ;
    printf("end: %d %lu %d\n", WEXITSTATUS(status), sum, *anonymous);
    return 5;
}
