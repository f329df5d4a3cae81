// Functions that keep values below the stack pointer, where records have no register to use.
// variants: -O0; -O1; -O2; -O2 -fno-omit-frame-pointer; -O3; clang -O0; clang -O2
// functions: add_up by_copy by_index keep mixed main
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

enum {
    PARTS = 8
};

/* An array at a negative distance. */
NOINLINE long add_up(const long *values, long count) {
    volatile long parts[PARTS] = {1, 2, 3, 4, 5, 6, 7, 8};
    long sum = 0;
    for (long i = 0; i < count; i++)
        parts[values[i] & (PARTS - 1)] += values[i];
    for (long i = 0; i < PARTS; i++)
        sum = sum * 3 + parts[i];
    return sum;
}

/* The address comes by another register. */
NOINLINE long by_copy(const long *values, long count) {
    long sum = 0;
    for (long i = 0; i < count; i++)
        __asm__ volatile("movq %%rsp, %%rcx\n\t"
                         "movq %1, -120(%%rcx)\n\t"
                         "addq (%2,%3,8), %0\n\t"
                         "addq -120(%%rcx), %0"
                         : "+r"(sum)
                         : "r"(i), "r"(values), "r"(i)
                         : "rcx", "memory");
    return sum;
}

/* A negative index makes up for the distance. */
NOINLINE long by_index(const long *values, long count) {
    long sum = 0, below = -15;
    for (long i = 0; i < count; i++)
        __asm__ volatile("movq %1, 8(%%rsp,%3,8)\n\t"
                         "addq (%2,%1,8), %0\n\t"
                         "addq 8(%%rsp,%3,8), %0"
                         : "+r"(sum)
                         : "r"(i), "r"(values), "r"(below)
                         : "memory");
    return sum;
}

/* One value, over a loop. */
NOINLINE long keep(const int *values, long count, volatile long *out) {
    volatile long kept = count;
    long high = 0;
    for (long i = 0; i < count; i++) {
        high = values[i] > high ? values[i] : high;
        *out = kept + values[high & 3];
        kept = *out ^ i;
    }
    return kept + high;
}

/* It calls, so it has no red zone; what it calls has one. */
NOINLINE long mixed(const long *values, long count) {
    volatile long kept[2] = {count, 5};
    long sum = 0;
    for (long i = 1; i < count; i++) {
        kept[i & 1] += add_up(values, i);
        sum += kept[values[i] & 1];
    }
    return sum;
}

int main(void) {
    long values[] = {3, 14, 15, 92, 65, 35, 89, 79, 32, 38}, out = 0;
    int small[] = {3, 1, 4, 1, 5, 9, 2, 6};
    printf("%ld", add_up(values, 10));
    printf(" %ld", by_copy(values, 10));
    printf(" %ld", by_index(values, 10));
    printf(" %ld", keep(small, 8, &out));
    printf(" %ld %ld\n", mixed(values, 10), out);
    return 0;
}
