// Small loops, of one block and of several, left at every place, entered in the middle.
// variants: -O0; -O1; -O2; -O3; -Os; -O2 -fPIC; -O2 -march=native; clang -O1; clang -O2; clang -Os
#include <stdio.h>

enum {
    COUNT = 211
};

static int numbers[COUNT];
static char marks[COUNT + 16];

__attribute__((noinline)) int find(const int *a, int n, int x) {
    int i;
    for (i = 0; i < n; i++)
        if (a[i] == x)
            break;
    return i;
}

__attribute__((noinline)) int add_some(const int *a, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] > 3)
            sum += a[i];
        else if (a[i] < -2)
            sum -= 2;
    }
    return sum;
}

__attribute__((noinline)) void mark(char *b, const int *a, int n) {
    for (int i = 0; i < n; i++) {
        if (a[i] & 1)
            b[i] = 1;
        else
            b[a[i] & 15] ^= 3;
    }
}

__attribute__((noinline)) int measure(const char *s, int stop) {
    int n = 0;
    while (*s && *s != stop) {
        if (*s == 'x')
            n += 2;
        s++;
        n++;
    }
    return n;
}

__attribute__((noinline)) int skip(const int *a, int n) {
    int i = 0, skipped = 0;
    goto middle;
    while (i < n) {
        skipped++;
        if (a[i] == 7)
            return skipped;
    middle:
        i++;
        if (a[i % COUNT] > 9)
            continue;
        marks[i % COUNT]++;
    }
    return -skipped;
}

__attribute__((noinline)) void clear(char *b, int n) {
    for (int i = 0; i < n; i++)
        *(volatile char *)&b[i] = 0;
}

__attribute__((noinline)) unsigned collatz(unsigned n) {
    unsigned steps = 0;
    for (; n != 1; steps++)
        n = n & 1 ? 3 * n + 1 : n / 2;
    return steps;
}

int main(void) {
    long total = 0;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (i * 7919) % 31 - 9;
    for (int n = 0; n < COUNT; n += n < 20 ? 1 : 17) {
        total += find(numbers, n, n % 40 - 9) + add_some(numbers, n) + skip(numbers, n);
        mark(marks, numbers, n);
        total = total * 3 + marks[n];
        clear(marks, n / 2);
    }
    for (unsigned n = 1; n < 30; n++)
        total += collatz(n);
    total += measure("hello xx world", 'z') + measure("abcxdef", 'e') + measure("", 1);
    printf("%ld\n", total);
    return 0;
}
