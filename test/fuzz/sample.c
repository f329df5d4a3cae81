/* sample.c: a program for the fuzzer of the readers: with inlined calls, a jump table, a loop with
 * padding and a cold piece. */
#include <stdio.h>
#include <stdlib.h>

static inline int square(int x) {
    int result = x * x;
    if (result > 100)
        result ^= 3;
    return result;
}

int kind(int which) {
    switch (which) {
    case 1:
        puts("one");
        break;
    case 2:
        puts("two");
        break;
    case 3:
        puts("three");
        break;
    case 4:
        puts("four");
        break;
    case 5:
        puts("five");
        break;
    case 6:
        abort();
    default:
        return 0;
    }
    return square(which);
}

int main(int argc, char **argv) {
    int sum = 0;
    (void)argv;
    for (int i = 0; i < argc + 3; i++)
        sum += kind(i) + square(i);
    return sum > 1000;
}
