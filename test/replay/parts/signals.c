// Signals: timers, between and in system calls, raised, queued, on an alternate stack, with
// restarted and interrupted calls, in sigsuspend, faults with and without a handler.  Tells where
// each came in.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    PLACES = 64
};

static volatile int handled;
static char places[PLACES][64];
static volatile unsigned long mixed;
static sigjmp_buf back;

static void handle(int number, siginfo_t *info, void *context) {
    const ucontext_t *where = context;
    if (handled < PLACES)
        snprintf(places[handled], sizeof places[0], "signal %d, code %d, value %d at %llx", number,
                 info->si_code, number == SIGRTMIN ? info->si_value.sival_int : 0,
                 (unsigned long long)where->uc_mcontext.gregs[REG_RIP]);
    handled++;
    mixed = mixed * 31 + (unsigned long)number;
}

static void catch_fault(int number) {
    printf("fault %d\n", number);
    siglongjmp(back, 1);
}

static void catch_all(void) {
    static char stack[1 << 16];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaltstack(&other, NULL);
    sigaction(SIGALRM, &action, NULL);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGRTMIN, &action, NULL);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGSEGV, catch_fault);
    signal(SIGFPE, catch_fault);
}

static double compute(double x) {
    for (int i = 0; i < 100000; i++)
        x = x * 1.0000001 + i * 1e-9;
    return x;
}

static void fault(int number) {
    volatile int zero = 0;
    if (sigsetjmp(back, 1))
        return;
    if (number)
        printf("%d\n", 1 / zero);
    *(volatile int *)16 = 1;
}

int main(int argc, char **argv) {
    const struct itimerval timer = {{0, 3000}, {0, 3000}}, none = {{0}};
    sigset_t mask;
    double x = 1;
    (void)argv;
    catch_all();
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 40; i++) {
        struct timespec time = {0, 1500000};
        x = compute(x);
        int result = nanosleep(&time, &time);
        printf("%d %d %ld %.17g %lu\n", handled, result, time.tv_nsec, x, mixed);
        fflush(stdout);
        if (i % 5 == 0)
            raise(SIGUSR1);
        if (i == 7)
            sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 42});
        kill(getpid(), SIGUSR2);
    }
    sigemptyset(&mask);
    for (int i = 0; i < 5; i++)
        sigsuspend(&mask);
    setitimer(ITIMER_REAL, &none, NULL);
    for (int i = 0; i < handled && i < PLACES; i++)
        puts(places[i]);
    fault(0);
    fault(1);
    fflush(stdout);
    if (argc > 1)
        abort();
    signal(SIGSEGV, SIG_DFL);
    *(volatile int *)8 = 1;
    return 0;
}
