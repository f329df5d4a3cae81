/* traced.c: what traces of a recording are about. The first argument chooses.
 *
 *     plain      loops, calls, strings, system calls, a handler that is called by raise; a fork
 *     alarms     a timer interrupts a loop; says how often
 *     threads    three threads change a sum without a lock; says what they have seen */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    VALUES = 3000,
    TURNS = 300,
    THREADS = 3
};

static volatile sig_atomic_t handled;

void handle(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    (void)context;
    handled++;
}

static void catch_signal(int number) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = handle;
    sigaction(number, &action, NULL);
}

static int compare(const void *one, const void *other) {
    return *(const int *)one - *(const int *)other;
}

static unsigned long sum_up(const int *values, int count) {
    unsigned long sum = 0;
    for (int i = 0; i < count; i++)
        sum += (unsigned)values[i];
    return sum;
}

static int plain(void) {
    static int values[VALUES];
    unsigned state = 1;
    int status;
    catch_signal(SIGUSR1);
    for (int i = 0; i < VALUES; i++)
        values[i] = (int)((state = state * 1103515245 + 12345) >> 8);
    raise(SIGUSR1);
    qsort(values, VALUES, sizeof *values, compare);
    printf("%lu %d\n", sum_up(values, VALUES), (int)handled);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit((int)(sum_up(values, VALUES / 2) & 7));
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

/* Takes long, by few instructions. */
static void wait_a_while(void) {
    for (int i = 0; i < 220; i++)
        __asm__ volatile("fldpi; fsincos; fpatan; fsincos; fpatan; fsincos; fpatan; fstp %%st(0)"
                         :
                         :
                         : "st", "st(1)");
}

static int alarms(void) {
    const struct itimerval timer = {{0, 2000}, {0, 2000}};
    catch_signal(SIGALRM);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (handled < 8)
        wait_a_while();
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    printf("%d\n", (int)handled);
    return 0;
}

volatile long sum;
static long seen[THREADS][TURNS];

void *change(void *of) {
    long *own = of;
    for (int i = 0; i < TURNS; i++) {
        long now = sum;
        own[i] = now;
        wait_a_while();
        sum = now + 1;
    }
    return of;
}

static int threads(void) {
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&all[i], NULL, change, seen[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    printf("%ld\n", sum);
    for (int i = 0; i < THREADS; i++)
        for (int turn = 0; turn < TURNS; turn++)
            printf("%d %ld\n", i, seen[i][turn]);
    return 0;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    if (strcmp(what, "alarms") == 0)
        return alarms();
    return strcmp(what, "threads") == 0 ? threads() : plain();
}
