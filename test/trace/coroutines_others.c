// Functions whose callees wait on another stack, in a call that returns there later: the returns
// lead to callers on that stack. Coroutines end, are abandoned, and begin again on the same memory.
// They hand control to each other, not only to main.
// modes: trace
// variants: -O2 -fno-inline; clang -O2 -fno-inline
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define OWN __attribute__((noinline)) static

enum {
    COROUTINES = 3,
    STACK = 65536
};

static ucontext_t back, contexts[COROUTINES];
static char stacks[COROUTINES][STACK] __attribute__((aligned(64)));
static int done[COROUTINES];
static long sum;

OWN long leaf(long n) {
    sum += n & 3;
    return n + 1;
}

/* To the next coroutine that is not done, or to main. */
OWN void yield(int number, int direct) {
    int next = (number + 1) % COROUTINES;
    leaf(number);
    if (direct && !done[next] && next != number)
        swapcontext(&contexts[number], &contexts[next]);
    else
        swapcontext(&contexts[number], &back);
    leaf(next);
}

OWN long wait_one(int number, long n) {
    long before = leaf(n);
    yield(number, (int)(n & 1));
    return before + leaf(n);
}

OWN long wait_other(int number, long n) {
    long before = leaf(n) + leaf(number);
    if (n > 2)
        before += wait_one(number, n - 1);
    yield(number, n % 3 == 0);
    return before - leaf(number);
}

OWN long step(int number, long n) {
    return n & 1 ? wait_one(number, n) + leaf(1) : wait_other(number, n) + leaf(2);
}

static void body(int number, int turns) {
    for (int i = 0; i < turns; i++)
        sum += step(number, i) * (number + 1) + leaf(i);
    done[number] = 1;
    swapcontext(&contexts[number], &back);
    abort();
}

OWN void start(int number, int turns) {
    getcontext(&contexts[number]);
    contexts[number].uc_stack.ss_sp = stacks[number];
    contexts[number].uc_stack.ss_size = STACK;
    contexts[number].uc_link = &back;
    makecontext(&contexts[number], (void (*)(void))body, 2, number, turns);
    done[number] = 0;
}

OWN int run(int number) {
    if (done[number])
        return 0;
    swapcontext(&back, &contexts[number]);
    return (int)leaf(number);
}

OWN long turn(int number) {
    return run(number) + leaf(number);
}

int main(void) {
    for (int i = 0; i < COROUTINES; i++)
        start(i, 4 + i);
    for (int i = 0; i < 25; i++) {
        sum += turn(i % COROUTINES);
        if (i == 7) /* it is abandoned where it waits */
            start(1, 5);
    }
    printf("%ld\n", sum);
    return 0;
}
