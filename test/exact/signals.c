// Signal handlers: raised in a loop, nested, and one that leaves by siglongjmp.
// variants: -O0; -O1; -O2; -O3; clang -O2
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t handled, nested;
static sigjmp_buf back;

static void second(int signal) {
    for (int i = 0; i < 3; i++)
        nested += signal == SIGUSR2;
}

static void first(int signal) {
    handled += signal == SIGUSR1;
    if (handled % 2 == 0)
        raise(SIGUSR2);
}

static void leaves(int signal) {
    handled += 10;
    siglongjmp(back, signal);
}

__attribute__((noinline)) static int works(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += i;
        if (i % 4 == 1)
            raise(SIGUSR1);
    }
    return sum;
}

int main(void) {
    struct sigaction action = {.sa_handler = first};
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = second;
    sigaction(SIGUSR2, &action, NULL);
    action.sa_handler = leaves;
    sigaction(SIGHUP, &action, NULL);
    int sum = works(17);
    for (volatile int i = 0; i < 4; i++)
        if (sigsetjmp(back, 1) == 0)
            raise(SIGHUP);
    printf("%d %d %d\n", sum, handled, nested);
    return 0;
}
