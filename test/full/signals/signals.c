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

unsigned work(unsigned number) {
    unsigned sum = number;
    double value = number;
    static _Atomic int turns;
    for (unsigned i = 0; i < 100; i++) {
        sum += mix(i, (int)(i % 7));
        value = half(value, (int)i);
        turns++;
    }
    return sum + (unsigned)value;
}
