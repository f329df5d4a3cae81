// Returns of traced functions to traced callers: recursion, mutual recursion, tail calls, callees
// that longjmp leaves, that never return, that call back through a library, and that have many
// arguments on the stack.
// modes: trace; moment,trace
// variants: -O0; -O2 -fno-inline; clang -O2 -fno-inline
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline)) static

static long sum;
static jmp_buf out, deep;

OWN long leaf(long n) {
    sum += n & 3;
    return n * 3 + 1;
}

OWN long recurse(long n) {
    return n <= 0 ? leaf(n) : recurse(n - 1) + leaf(n);
}

OWN long odd(long n);

OWN long even(long n) {
    return n == 0 ? 1 : odd(n - 1) + (sum & 1);
}

OWN long odd(long n) {
    return n == 0 ? 0 : even(n - 1) - (sum & 1);
}

/* Jumps to one of several functions at its end. */
OWN long last_step(long n) {
    sum += n;
    if (n % 3 == 0)
        return leaf(n);
    if (n % 3 == 1)
        return recurse(n & 7);
    return even(n & 7);
}

OWN long many(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
    return leaf(a + b + c + d + e + f) + g * h - i;
}

/* Its stack pointer depends on N. */
OWN long grow(long n) {
    char *room = alloca((size_t)(n & 63) + 16);
    memset(room, (int)n, 16);
    long found = leaf(room[3]);
    return found + room[n & 15] + leaf(n);
}

OWN void leave(long n) {
    sum += n;
    if (n % 5 == 0)
        longjmp(n % 2 ? out : deep, 1);
}

OWN long may_leave(long n) {
    long before = leaf(n);
    leave(n);
    return before + leaf(n + 1);
}

/* Some of the functions above it are left. */
OWN long catch (long n) {
    volatile long kept = n;
    if (setjmp(deep))
        return leaf(kept) + 1;
    return may_leave(kept) + may_leave(kept + 1);
}

OWN int compare(const void *a, const void *b) {
    long first = *(const long *)a, second = *(const long *)b;
    return (leaf(first) > leaf(second)) - (first < second && leaf(1));
}

OWN void end(long n) {
    printf("%ld %ld\n", sum, leaf(n));
    exit((int)(leaf(n) & 0));
}

OWN long finish(long n) {
    end(n);
    return leaf(n);
}

OWN void at_exit(void) {
    sum += recurse(3);
    printf("%ld\n", sum);
}

int main(void) {
    long list[12];
    atexit(at_exit);
    for (long i = 0; i < 11; i++) {
        sum += recurse(i & 7) + even(i) + last_step(i) + grow(i * 5);
        sum += many(i, 1, 2, 3, 4, 5, leaf(6), 7, leaf(8));
        if (!setjmp(out))
            sum += catch (i) + leaf(i);
        else
            sum += leaf(-i);
    }
    for (long i = 0; i < 12; i++)
        list[i] = i * 7919 % 13;
    qsort(list, 12, sizeof *list, compare);
    sum += list[5];
    return (int)finish(sum);
}
