// Static functions of one name in two units, and one that has the name of a C library function.
// with: parts/static_names_other.c
// variants: -O0; -O2; clang -O0
#include <stdio.h>

int other(int n);

__attribute__((noinline)) static int helper(int n) {
    return n % 2 ? n + 1 : n - 1;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 6; i++)
        sum += helper(i) + other(i);
    printf("%d\n", sum);
    return 0;
}
