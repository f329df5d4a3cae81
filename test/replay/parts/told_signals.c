/* Signals of the program's own making, and of a timer that come between calls. */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms, others;
static volatile unsigned long work;

static void handle(int number) {
    if (number == SIGALRM)
        alarms++;
    else
        others++;
}

static void between(int turn) {
    work += (unsigned)turn;
}

int main(void) {
    const struct itimerval timer = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    signal(SIGUSR1, handle);
    signal(SIGUSR2, handle);
    signal(SIGALRM, handle);
    for (int turn = 0; turn < 3; turn++) {
        raise(SIGUSR1);
        between(turn);
        raise(SIGUSR2);
    }
    setitimer(ITIMER_REAL, &timer, NULL);
    while (alarms < 2)
        work += (unsigned long)getppid();
    setitimer(ITIMER_REAL, &never, NULL);
    kill(getpid(), SIGUSR1);
    return 0;
}
