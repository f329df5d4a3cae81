// A handler on an alternate stack, reached from recursion, itself recursive.
// variants: -O0; -O2; clang -O2
#include <signal.h>
#include <stdio.h>

static char stack[65536] __attribute__((aligned(16)));
static volatile int depth_seen, on_stack;

__attribute__((noinline)) static int measure(int depth) {
    volatile char here = (char)depth;
    on_stack += &here >= stack && &here < stack + sizeof stack;
    return depth == 0 ? 0 : 1 + measure(depth - 1);
}

static void handler(int signal, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    if (signal == SIGUSR1)
        depth_seen += measure(6);
}

__attribute__((noinline)) static int recurse(int depth) {
    if (depth == 0) {
        raise(SIGUSR1);
        return 0;
    }
    return recurse(depth - 1) + depth;
}

int main(void) {
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    int sum = recurse(8) + recurse(3);
    printf("%d %d %d\n", sum, depth_seen, on_stack);
    return 0;
}
