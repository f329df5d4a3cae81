// A recursive function whose switch returns at once in some cases: the next record is that of a call
// in another invocation of the same function.
// modes: trace; moment,trace
// variants: -O2; -O3; clang -O2
#include <stdio.h>
#include <stdlib.h>

static const char *text = "8017250341628450131645612012304";

static int next(void) {
    return *text ? *text++ : '9';
}

__attribute__((noinline)) static long load(int c) {
    switch (c) {
    case '0': return 100;
    case '1': return 205;
    case '2': return 333;
    case '3': return 471;
    case '4': {
        long a = load(next());
        return a + 7;
    }
    case '5': {
        long a = load(next()), b = load(next());
        return a * b + 7;
    }
    case '6': return atoi(text);
    case '7': {
        long a = load(next());
        return a ^ strtol(text, 0, 10);
    }
    case '8': {
        long a[9];
        for (int i = 0; i < 3; i++)
            a[i] = load(next());
        return a[0] - a[1] + a[2];
    }
    default: return 5;
    }
}

int main(void) {
    while (*text)
        printf("%ld\n", load(next()));
    return 0;
}
