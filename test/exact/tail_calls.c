// Tail calls: to another function, to itself, through a pointer, out of a switch.
// variants: -O0; -O2; -O3; -Os; clang -O2; -O2 -fPIC; -O2 -fcf-protection; clang -O2 -mretpoline
#include <stdio.h>

typedef int step(int n, int sum);

static step odd, even, third;
static step *const steps[] = {odd, even, third};

__attribute__((noinline)) static int third(int n, int sum) {
    if (n <= 0)
        return sum;
    return steps[n % 3](n - 1, sum + 2);
}

__attribute__((noinline)) static int odd(int n, int sum) {
    if (n <= 0)
        return sum;
    return even(n - 1, sum * 3 % 101);
}

__attribute__((noinline)) static int even(int n, int sum) {
    if (n <= 0)
        return sum;
    return third(n - 1, sum + n);
}

__attribute__((noinline)) static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
}

__attribute__((noinline)) static int prints(const char *text) {
    return puts(text);
}

int main(void) {
    printf("%d %d %d\n", odd(30, 1), even(31, 2), gcd(46368, 28657));
    return prints("end") < 0;
}
