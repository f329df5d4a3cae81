// Several signals that are pending are delivered at once: the second handler interrupts the first
// one in front of its first instruction.
// variants: -O0; -O2; -O3 -fPIE; clang -O2
// counts
#include <signal.h>
#include <stdio.h>

static volatile int order[64], count, nested;

static void note(int number) {
    order[count] = number;
    count = count + 1;
}

static void first(int number) {
    note(number);
}

static void second(int number, siginfo_t *info, void *context) {
    note(number + (info != NULL) + (context != NULL));
    if (!nested) { /* a signal that this handler raises itself, with more pending */
        nested = 1;
        raise(SIGURG);
    }
}

static void third(int number) {
    sigset_t all, old;
    note(number);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    raise(SIGWINCH);
    raise(SIGCHLD);
    sigprocmask(SIG_SETMASK, &old, NULL); /* two at once, within a handler */
    note(0);
}

__attribute__((noinline)) static int deliver(const sigset_t *set) {
    sigset_t old;
    sigprocmask(SIG_BLOCK, set, &old);
    raise(SIGUSR1);
    raise(SIGUSR2);
    raise(SIGURG);
    sigprocmask(SIG_SETMASK, &old, NULL); /* all of them at once */
    return count;
}

int main(void) {
    sigset_t set;
    struct sigaction with = {.sa_sigaction = second, .sa_flags = SA_SIGINFO};
    sigfillset(&set);
    signal(SIGUSR1, first);
    signal(SIGCHLD, first);
    signal(SIGWINCH, first);
    sigaction(SIGUSR2, &with, NULL);
    signal(SIGURG, third);
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += deliver(&set);
    for (int i = 0; i < count; i++)
        sum = sum * 31 + order[i];
    printf("%d %d\n", count, sum);
    return 0;
}
