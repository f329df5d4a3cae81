// Floating point and vectors: scalar and packed arithmetic, the x87, conversions, shuffles; atomic
// operations, string instructions.
// libraries: -lm
// every: 29
// variants: -O0; -O1; -O3; -O3 -mavx2 -mfma; clang -O2; clang -O0
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 21 };

static float singles[COUNT];
static double doubles[COUNT];
static int integers[COUNT];
static long longs[COUNT];
static short shorts[COUNT];
static unsigned char bytes[COUNT];

__attribute__((noinline)) static void fill(int seed) {
    for (int i = 0; i < COUNT; i++) {
        integers[i] = (i * 37 + seed) % 19;
        longs[i] = integers[i] - 7;
        shorts[i] = (short)(i * seed);
        bytes[i] = (unsigned char)(i ^ seed);
        singles[i] = (float)integers[i] / 3;
        doubles[i] = (double)longs[i] * 0.25;
    }
}

__attribute__((noinline)) static void scale(float factor, double summand) {
    for (int i = 0; i < COUNT; i++)
        singles[i] = singles[i] * factor + (float)doubles[i];
    for (int i = 0; i < COUNT; i++)
        doubles[i] = doubles[i] < summand ? doubles[i] + summand : -doubles[i];
    for (int i = 0; i < COUNT; i++)
        integers[i] += (int)singles[i] + (shorts[i] > bytes[i] ? shorts[i] : bytes[i]);
}

__attribute__((noinline)) static void reverse(void) {
    for (int i = 0; i < COUNT / 2; i++) {
        double d = doubles[i];
        doubles[i] = doubles[COUNT - 1 - i];
        doubles[COUNT - 1 - i] = d;
        long l = longs[i];
        longs[i] = longs[COUNT - 1 - i];
        longs[COUNT - 1 - i] = l;
    }
}

__attribute__((noinline)) static long double power(long double base, int exponent) {
    long double result = 1;
    for (; exponent; exponent--)
        result *= exponent & 1 ? base : base / 2 + exponent;
    return result < 0 ? -result : result;
}

__attribute__((noinline)) static long add_atomically(_Atomic long *value, int n) {
    long expected = n;
    atomic_fetch_add(value, n);
    atomic_exchange(value, atomic_load(value) * 2);
    atomic_compare_exchange_strong(value, &expected, 5);
    return atomic_fetch_or(value, 1);
}

int main(void) {
    static _Atomic long value;
    static char copy[sizeof doubles];
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        fill(i);
        scale(1.5f, i);
        reverse();
        sum += (double)power(sum > 10 ? 1.25L : 2.5L, i) + __builtin_sqrt(doubles[i] * doubles[i]);
        add_atomically(&value, i);
        memcpy(copy, doubles, sizeof copy);
        sum += copy[i] + singles[i] + integers[COUNT - 1];
    }
    printf("%.9g %ld\n", sum, (long)value);
    return 0;
}
