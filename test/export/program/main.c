/* main.c: a program with all that coverage formats have a place for: branches both ways and one
 * way, a switch, loops, recursion, a function of a header in two files, code that never runs. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned fibonacci(unsigned n) {
    if (n < 2)
        return n;
    return fibonacci(n - 1) + fibonacci(n - 2);
}

static int classify(int n) {
    switch (n % 6) {
    case 0:
        return 1;
    case 1:
        return -3;
    case 2:
        return n;
    case 3:
        return n * 7;
    case 4:
        return 12 - n;
    default:
        return 0;
    }
}

__attribute__((noinline)) static void never_called(int n) {
    if (n > -10)
        printf("never %d\n", n);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 20;
    int sum = 0;
    if (n < 0) {
        never_called(n);
        return 2;
    }
    for (int i = 0; i < n; i++) {
        sum += classify(i);
        table_put(i, sum);
    }
    sum += clamp(sum, 0, 100);
    printf("%d %u %d\n", sum, fibonacci((unsigned)n % 16), table_sum());
    return 0;
}
