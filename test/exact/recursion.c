// Recursion: one function calling itself, and two calling each other.
// variants: -O0; -O1; -O2; -O3; -Os; clang -O0; clang -O1; clang -O2; clang -O3; clang -Os
// callgrind
#include <stdio.h>

static int is_odd(unsigned n);

__attribute__((noinline)) static int is_even(unsigned n) {
    return n == 0 ? 1 : is_odd(n - 1);
}

__attribute__((noinline)) static int is_odd(unsigned n) {
    return n == 0 ? 0 : is_even(n - 1);
}

__attribute__((noinline)) static int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int ackermann(int m, int n) {
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

int main(int argc, char **argv) {
    (void)argv;
    printf("%d %d %d\n", fibonacci(11 + argc), ackermann(2, 4), is_even(37) + 2 * is_odd(37));
    return 0;
}
