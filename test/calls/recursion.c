// Recursion: direct, mutual, and by way of function pointers; its ways are folded.
// least: 20
#include <stdio.h>

static __attribute__((noinline)) unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int is_odd(unsigned n);
static __attribute__((noinline)) int is_even(unsigned n) {
    int result = n == 0 ? 1 : is_odd(n - 1);
    __asm__ volatile("" : "+r"(result)); /* no tail call */
    return result;
}
static __attribute__((noinline)) int is_odd(unsigned n) {
    int result = n == 0 ? 0 : is_even(n - 1);
    __asm__ volatile("" : "+r"(result));
    return result;
}

/* Three functions that call each other in all orders. */
typedef unsigned step(unsigned depth, unsigned seed);
static step red, green, blue;
static step *volatile const steps[] = {red, green, blue};

#define STEP(name, factor, addend)                                                                 \
    static __attribute__((noinline)) unsigned name(unsigned depth, unsigned seed) {                \
        unsigned next = seed * factor + addend;                                                    \
        if (depth == 0)                                                                            \
            return next;                                                                           \
        unsigned first = steps[next >> 8 & 3 ? next % 3 : 0](depth - 1, next);                     \
        return first ^ steps[next / 7 % 3](depth - 1, next + 1);                                   \
    }
STEP(red, 69069, 1)
STEP(green, 1664525, 1013904223)
STEP(blue, 22695477, 12345)

int main(void) {
    printf("%u\n", fibonacci(12));
    printf("%d %d\n", is_even(9), is_odd(7));
    printf("%u\n", red(7, 1));
    printf("%u\n", blue(5, 2) + fibonacci(5));
    return 0;
}
