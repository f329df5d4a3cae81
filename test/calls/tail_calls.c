// Jumps to other functions: what is jumped to was called where the first one was.
// variants: -O2; -O1; clang -O2; -O2 -fno-plt
// least: 10
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) int last(int n) {
    __asm__ volatile("" ::: "memory");
    return n * 3;
}
static __attribute__((noinline)) int middle(int n) {
    __asm__ volatile("nop");
    return last(n + 1);
}
static __attribute__((noinline)) int first(int n) {
    __asm__ volatile("nop; nop");
    return middle(n - 7);
}

/* A conditional jump away. */
static __attribute__((noinline)) int either(int n) {
    if (n & 1)
        return last(n);
    return middle(n);
}

/* A jump by a pointer, with arguments in all registers. */
typedef long many(long, long, long, long, long, long);
static __attribute__((noinline)) long sum(long a, long b, long c, long d, long e, long f) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}
static __attribute__((noinline)) long product(long a, long b, long c, long d, long e, long f) {
    return a * b + c * d + e * f;
}
static many *volatile const choice[] = {sum, product};
static __attribute__((noinline)) long pass(long a, long b, long c, long d, long e, long f) {
    return choice[a & 1](b, c, d, e, f, a);
}

/* Jumps into the C library, which calls back. */
static __attribute__((noinline)) int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}
static __attribute__((noinline)) void sort(int *data, size_t count) {
    qsort(data, count, sizeof *data, compare);
}
static __attribute__((noinline)) size_t length(const char *text) {
    return strlen(text);
}

/* A function that ends in a jump to its own begin. */
static __attribute__((noinline)) int count_down(int n, int total) {
    __asm__ volatile("" ::: "memory");
    if (n == 0)
        return last(total);
    return n & 1 ? count_down(n - 1, total + n) : middle(n) + count_down(n - 1, total);
}

int main(int argc, char **argv) {
    (void)argv;
    int total = 0, data[] = {5, 3, 9, 1, 7, 2, 8};
    long more = 0;
    for (int i = 0; i < 10; i++) {
        total += first(i) + either(i);
        more += pass(i, 2, 3, argc, 5, i + 4);
    }
    sort(data, sizeof data / sizeof *data);
    printf("%d %ld %d %zu %d\n", total, more, data[2], length("seven"), count_down(9, 0));
    return 0;
}
