// Computes, and makes no system call meanwhile.  Signals of a timer come in anywhere, or threads
// wait for each other in loops.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long steps, sum;
static volatile int signals;

__attribute__((noinline)) static unsigned long work(unsigned long x) {
    unsigned long result = 0;
    for (int i = 0; i < 50; i++) {
        if (x >> (i & 31) & 1)
            result += (unsigned long)i * x;
        else
            result ^= x + (unsigned long)i;
        steps++;
    }
    return result;
}

static void set_timer(int timer, int microseconds) {
    const struct itimerval every = {{0, microseconds}, {0, microseconds}};
    setitimer(timer, &every, NULL);
}

/* A machine on which signals come faster than they are recorded would fill the stack with handlers:
 * there they come half as often. */
static void slow_down(void) {
    for (int timer = ITIMER_REAL; timer <= ITIMER_PROF; timer++) {
        struct itimerval every;
        getitimer(timer, &every);
        set_timer(timer, (int)every.it_interval.tv_usec * 2);
    }
}

// Depends on where each signal came in, and on the stack that it interrupted.
static void handle(int number) {
    enum {
        DEEP = 30
    };
    static volatile int depth;
    sum = sum * 31 + steps + (unsigned long)number;
    signals++;
    if (++depth % DEEP == 0)
        slow_down();
    work(steps);
    depth--;
}

static void compute(int until) {
    unsigned long x = 1;
    for (signals = 0; signals < until;)
        x = work(x) + 1;
    char line[80];
    int size = snprintf(line, sizeof line, "%d signals, %lx, %lx\n", until, x, sum);
    if (write(1, line, (size_t)size) != size) /* the oracle looks in front of it */
        abort();
}

static void storm(int count) {
    set_timer(ITIMER_REAL, 300);
    set_timer(ITIMER_PROF, 1000); /* nested */
    for (int i = 0; i < 20; i++)
        compute(count / 20);
}

static void forks(void) {
    set_timer(ITIMER_REAL, 2000);
    compute(5);
    for (int i = 0; i < 3; i++) {
        if (fork() != 0)
            continue;
        set_timer(ITIMER_REAL, 1000 + 300 * i);
        compute(10);
        _exit(i);
    }
    compute(5);
    set_timer(ITIMER_REAL, 0);
    for (int status, left = 3; left > 0;)
        if (wait(&status) > 0)
            left--;
}

enum {
    THREADS = 3,
    ROUNDS = 4
};

static atomic_int turn;
static volatile long shared;

static void *take_turns(void *of) {
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load(&turn) % THREADS != (long)of)
            shared += (long)of; /* a race, too */
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}

static void threads(void) {
    pthread_t started[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&started[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(started[i], NULL);
    printf("shared %ld\n", shared);
}

int main(int count, char **words) {
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_NODEFER};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    if (count > 1 && strcmp(words[1], "forks") == 0)
        forks();
    else if (count > 1 && strcmp(words[1], "threads") == 0)
        threads();
    else
        storm(count > 1 ? atoi(words[1]) : 200);
}
