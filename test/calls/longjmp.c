// longjmp out of deep calls, to near and far places, and then other calls from there.
// least: 20
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf outer, inner;

static __attribute__((noinline)) int leaf(int n) {
    __asm__ volatile("" ::: "memory");
    return n * n;
}

static __attribute__((noinline)) int dive(int depth, int how) {
    int here = leaf(depth);
    if (depth == 0) {
        if (how & 1)
            longjmp(inner, how + 1);
        if (how & 2)
            longjmp(outer, how + 1);
        return here;
    }
    return dive(depth - 1, how) + here;
}

static __attribute__((noinline)) int use_stack(int n) {
    volatile char *room = alloca((size_t)n + 64);
    memset((void *)room, n, (size_t)n + 64);
    return leaf(room[n]) + dive(n % 3, 0);
}

static __attribute__((noinline)) int attempt(int how) {
    volatile int before = leaf(how);
    int jumped = setjmp(inner);
    if (jumped) {
        /* other calls, with more on the stack than there was */
        volatile int more = use_stack(300 + jumped);
        return more + leaf(jumped);
    }
    return dive(4 + how % 3, how) + before;
}

int main(void) {
    volatile int total = 0;
    for (volatile int i = 0; i < 12; i++) {
        int jumped = setjmp(outer);
        if (jumped)
            total += leaf(jumped) + use_stack(jumped);
        else
            total += attempt(i);
        total += use_stack(i);
    }
    printf("%d\n", total);
    return 0;
}
