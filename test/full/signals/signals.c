// Signal handlers, in two threads: what a handler says of the instruction that it interrupted,
// whatever it is, and whatever handlers have counted before.  The signals come from the tracer and
// from a timer of each thread.
// flags: -pthread
// signals
// every: 41
// variants: -O1; -O2; clang -O2
#include "signals.h"

__attribute__((noinline)) static unsigned mix(unsigned value, int depth) {
    for (int i = 0; i < 5; i++)
        value = value & 1 ? value * 3 + 1 : value >> 1;
    return depth ? mix(value, depth - 1) + (unsigned)depth : value;
}

static double half(double value, int n) {
    return value / 2 + n;
}

/* A comparison that ends early, too. */
__attribute__((noinline)) static unsigned strings(unsigned char *bytes, unsigned long count) {
    const unsigned char *from = bytes;
    unsigned char *to = bytes + 64;
    unsigned long left = count;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
    left = count;
    __asm__ volatile("repne scasb" : "+D"(bytes), "+c"(left) : "a"(9) : "memory", "cc");
    return (unsigned)left;
}

unsigned work(unsigned number) {
    unsigned char bytes[128] = {1, 2, 3, 4, 5, 9, 9};
    unsigned sum = number;
    double value = number;
    static _Atomic int turns;
    for (unsigned i = 0; i < 100; i++) {
        sum += mix(i, (int)(i % 7));
        value = half(value, (int)i);
        turns++;
        sum += strings(bytes, i % 16);
    }
    return sum + (unsigned)value;
}
