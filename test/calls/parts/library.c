/* library.c: a shared object that is called, and calls back. */
#include "library.h"

static __attribute__((noinline)) int square(int n) {
    __asm__ volatile("" : "+r"(n));
    return n * n;
}

int library_sum(int n) {
    int total = 0;
    for (int i = 0; i < n; i++)
        total += square(i);
    return total;
}

int library_apply(int (*function)(int), int n) {
    int before = square(n);
    return before + function(n) + library_sum(2);
}

int library_jump(int n) {
    return n & 1 ? library_sum(n) : square(n);
}
