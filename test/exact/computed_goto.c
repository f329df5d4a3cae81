// Computed goto: an interpreter with one table of labels for all its indirect jumps.
// variants: -O0; -O1; -O2; -O3; -Os; clang -O0; clang -O2; clang -O3; -O2 -fPIC; -O2 -no-pie -fno-pie
// callgrind
#include <stdio.h>

enum operation { PUSH, ADD, MULTIPLY, DUPLICATE, DECREMENT, LOOP, SWAP, STOP };

__attribute__((noinline)) static long interpret(const signed char *code) {
    static const void *const labels[] = {&&push, &&add,  &&multiply, &&duplicate,
                                         &&decrement, &&loop, &&swap,     &&stop};
    long stack[16], *top = stack, spare;
    const signed char *at = code;
#define NEXT goto *labels[*at++]
    NEXT;
push:
    *++top = *at++;
    NEXT;
add:
    top--;
    top[0] += top[1];
    NEXT;
multiply:
    top--;
    top[0] *= top[1];
    NEXT;
duplicate:
    top[1] = top[0];
    top++;
    NEXT;
decrement:
    --*top;
    NEXT;
loop:
    at = *top ? at + *at : at + 1;
    NEXT;
swap:
    spare = top[0];
    top[0] = top[-1];
    top[-1] = spare;
    NEXT;
stop:
    return top[-1];
}

int main(void) {
    static const signed char factors[] = {PUSH, 1, PUSH, 9, SWAP, PUSH, 3, MULTIPLY, PUSH,
                                          1,    ADD, SWAP, DECREMENT, LOOP, -10, STOP};
    static const signed char short_one[] = {PUSH, 4, DUPLICATE, ADD, DUPLICATE, STOP};
    printf("%ld\n", interpret(factors));
    printf("%ld\n", interpret(short_one));
    return 0;
}
