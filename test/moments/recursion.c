// Recursion: direct, mutual, and by tail calls.
// watch: counter
// visits: 15
// variants: -O0 -fno-pie -no-pie; -O2; -O2 -fno-pie -no-pie; clang -O2 -fPIE; clang -O2 -no-pie -fno-pie
#include <stdio.h>

unsigned long counter;

__attribute__((noinline)) static int fibonacci(int n) {
    counter++;
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int is_odd(int n);

__attribute__((noinline)) static int is_even(int n) {
    return n == 0 ? 1 : is_odd(n - 1);
}

__attribute__((noinline)) static int is_odd(int n) {
    counter += 3;
    return n == 0 ? 0 : is_even(n - 1);
}

__attribute__((noinline)) static int ackermann(int m, int n) {
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

int main(void) {
    printf("%d %d %d\n", fibonacci(9), is_even(41) + is_odd(30), ackermann(2, 3));
    return 0;
}
