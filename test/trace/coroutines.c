// Coroutines: functions that wait on a stack that the thread has left go on with their registers.
// They switch by swapcontext, by hand-written code that returns, and by such code that jumps.
// modes: trace; moment,trace
// variants: -O0; -O2; clang -O2
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum {
    COROUTINES = 4,
    STACK = 65536
};

struct coroutine {
    void *stack; /* the stack pointer while it waits */
    long number;
    int done;
};

extern void switch_stack(void **from, void *to);
extern void *jump_stack(void *to);
__asm__(".text\n"
        ".globl switch_stack\n"
        ".type switch_stack, @function\n"
        "switch_stack:\n"
        "        pushq %rbp\n"
        "        pushq %rbx\n"
        "        pushq %r12\n"
        "        pushq %r13\n"
        "        pushq %r14\n"
        "        pushq %r15\n"
        "        movq %rsp, (%rdi)\n"
        "        movq %rsi, %rsp\n"
        "        popq %r15\n"
        "        popq %r14\n"
        "        popq %r13\n"
        "        popq %r12\n"
        "        popq %rbx\n"
        "        popq %rbp\n"
        "        ret\n"
        ".size switch_stack, .-switch_stack\n"
        ".globl jump_stack\n"
        ".type jump_stack, @function\n"
        "jump_stack:\n"
        "        leaq -48(%rsp), %rsp\n"
        "        movq %rbp, (%rsp)\n"
        "        movq %rbx, 8(%rsp)\n"
        "        movq %r12, 16(%rsp)\n"
        "        movq %r13, 24(%rsp)\n"
        "        movq %r14, 32(%rsp)\n"
        "        movq %r15, 40(%rsp)\n"
        "        movq %rsp, %rax\n"
        "        movq %rdi, %rsp\n"
        "        movq (%rsp), %rbp\n"
        "        movq 8(%rsp), %rbx\n"
        "        movq 16(%rsp), %r12\n"
        "        movq 24(%rsp), %r13\n"
        "        movq 32(%rsp), %r14\n"
        "        movq 40(%rsp), %r15\n"
        "        movq 48(%rsp), %r8\n"
        "        leaq 56(%rsp), %rsp\n"
        "        movq %rax, %rdi\n"
        "        jmp *%r8\n"
        ".size jump_stack, .-jump_stack\n");

static struct coroutine coroutines[COROUTINES], *running;
static void *stack_of_main;
static long sum;

/* Returns a stack on which BODY begins when six registers have been popped. */
static void *make_stack(void (*body)(void)) {
    void **top = (void **)((char *)malloc(STACK) + STACK - 64);
    *--top = NULL; /* keeps it aligned, as a return address does */
    *--top = (void *)body;
    for (int i = 0; i < 6; i++)
        *--top = NULL;
    return top;
}

/* Waits below DEPTH calls. */
__attribute__((noinline)) static long wait_below(long depth) {
    volatile long room[4] = {0};
    room[depth & 3] = depth;
    if (depth == 0) {
        switch_stack(&running->stack, stack_of_main);
        return room[0] + 1;
    }
    return wait_below(depth - 1) + room[depth & 3];
}

static void switching(void) {
    struct coroutine *self = running;
    for (long i = 0; i < 3 + self->number; i++)
        sum += wait_below(i + self->number) * (self->number + 1);
    self->done = 1;
    switch_stack(&self->stack, stack_of_main);
    abort();
}

static void run_switching(void) {
    int left = COROUTINES;
    for (int i = 0; i < COROUTINES; i++)
        coroutines[i] = (struct coroutine){make_stack(switching), i, 0};
    while (left) {
        for (int i = 0; i < COROUTINES; i++) {
            if (coroutines[i].done)
                continue;
            running = &coroutines[i];
            switch_stack(&stack_of_main, running->stack);
            left -= running->done;
        }
    }
}

/* FROM is the stack of who has jumped here. */
static void jumping(void *from) {
    volatile long turns = 0;
    for (;;) {
        turns++;
        sum += turns;
        from = jump_stack(from);
    }
}

static void run_jumping(void) {
    void *stacks[2] = {make_stack((void (*)(void))jumping), make_stack((void (*)(void))jumping)};
    for (int i = 0; i < 10; i++)
        stacks[i & 1] = jump_stack(stacks[i & 1]);
}

static ucontext_t context_of_main, contexts[COROUTINES];
static jmp_buf again;

static void swapping(int turns, int number) {
    for (int i = 0; i < turns; i++) {
        sum += i * number;
        if (i % 3 == 1 && !setjmp(again)) {
            sum += 7;
            longjmp(again, 1);
        }
        swapcontext(&contexts[number], &context_of_main);
    }
}

static void run_swapping(void) {
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = malloc(STACK);
        contexts[i].uc_stack.ss_size = STACK;
        contexts[i].uc_link = &context_of_main;
        makecontext(&contexts[i], (void (*)(void))swapping, 2, 3 + i, i);
    }
    for (int turn = 0; turn < 3 + COROUTINES; turn++)
        for (int i = 0; i < COROUTINES; i++)
            if (turn <= 3 + i)
                swapcontext(&context_of_main, &contexts[i]);
}

int main(void) {
    run_switching();
    run_jumping();
    run_swapping();
    printf("%ld\n", sum);
    return 0;
}
