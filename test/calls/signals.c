// Handlers, on the thread's stack and on one of their own, that return and that jump out.
// least: 10
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int handled;
static sigjmp_buf back;

static __attribute__((noinline)) int work(int n) {
    return n < 2 ? 1 : work(n - 1) + work(n - 2);
}

static void handler(int number) {
    handled += work(3);
    if (number == SIGUSR2 && handled < 40)
        raise(SIGUSR1);
}

static __attribute__((noinline)) void sink(int n) {
    if (n == 0)
        raise(SIGTERM);
    else
        sink(n - 1);
    handled++;
}

static void jumping(int number) {
    handled += work(number % 4);
    siglongjmp(back, 1);
}

static void last(int number) {
    printf("%d %d\n", handled, work(number % 3));
    fflush(stdout);
    _Exit(2);
}

int main(void) {
    static char room[65536];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, NULL);
    sigaltstack(&stack, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    signal(SIGTERM, jumping);
    signal(SIGSEGV, last);
    for (volatile int i = 0; i < 5; i++) {
        raise(SIGUSR1);
        work(i);
        raise(SIGUSR2);
        if (sigsetjmp(back, 1) == 0)
            sink(i);
        else
            work(i + 1);
    }
    raise(SIGSEGV);
    abort();
}
