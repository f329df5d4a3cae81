// A caller tells functions with `...` in %al whether vector registers hold arguments, and begins
// keep it. Several sites, for several nodes.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static double sum(int count, ...) {
    va_list list;
    double total = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        total += va_arg(list, double);
    va_end(list);
    return total;
}

__attribute__((noinline)) static long sum_integers(int count, ...) {
    va_list list;
    long total = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        total += va_arg(list, long);
    va_end(list);
    return total;
}

__attribute__((noinline)) static double all(int n) {
    double d = n, total = sum(1, d);
    total += sum(2, d, 0.5);
    total += sum(1, d + 1);
    total += (double)sum_integers(2, 3L, (long)n);
    total += sum(2, 1.5, d);
    total += sum(1, d + 2);
    total += sum(3, 1.5, 2.5, d);
    return total;
}

int main(void) {
    double total = 0;
    for (int i = 0; i < 10; i++)
        total += all(i);
    printf("%g\n", total);
    return total == 435 ? 0 : 1;
}
