// Coroutines by swapcontext, on stacks of their own, moved between threads.
// flags: -pthread
// variants: -O0; -O2; -O3; clang -O2
#include <pthread.h>
#include <stdio.h>
#include <ucontext.h>

static ucontext_t caller, routine;
static char stack[65536];
static volatile int value;

__attribute__((noinline)) static void give(int n) {
    value = n;
    swapcontext(&routine, &caller);
}

static void generate(void) {
    int a = 0, b = 1;
    for (;;) {
        give(a);
        int next = a + b;
        a = b;
        b = next;
    }
}

static void *resume(void *argument) {
    for (int i = 0; i < *(int *)argument; i++) {
        swapcontext(&caller, &routine);
        printf("%d ", value);
    }
    return NULL;
}

int main(void) {
    int five = 5;
    getcontext(&routine);
    routine.uc_stack.ss_sp = stack;
    routine.uc_stack.ss_size = sizeof stack;
    makecontext(&routine, generate, 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        resume(&five);
        pthread_create(&thread, NULL, resume, &five);
        pthread_join(thread, NULL);
    }
    putchar('\n');
    return 0;
}
