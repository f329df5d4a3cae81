/* raced.c: two threads change variables without a lock, and say what they see; a timer's handler
 * interrupts them. Ends with status 4. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    ROUNDS = 40000000,
    TELL = 0xffff
};

static volatile unsigned long one, other;
static volatile sig_atomic_t alarms;

static void count_alarm(int number) {
    (void)number;
    alarms++;
}

static void *change_one(void *argument) {
    for (unsigned long i = 0; i < ROUNDS; i++) {
        one += i;
        if ((i & TELL) == 0) {
            printf("one %lu %lu %d\n", one, other, (int)alarms);
            fflush(stdout);
        }
    }
    return argument;
}

static void *change_other(void *argument) {
    for (unsigned long i = 0; i < ROUNDS; i++) {
        other += one & 7;
        if ((i & TELL) == 0) {
            printf("other %lu %lu %d\n", one, other, (int)alarms);
            fflush(stdout);
        }
    }
    return argument;
}

int main(void) {
    const struct itimerval timer = {{0, 9000}, {0, 9000}};
    pthread_t threads[2];
    signal(SIGALRM, count_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
    pthread_create(&threads[0], NULL, change_one, NULL);
    pthread_create(&threads[1], NULL, change_other, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 4;
}
