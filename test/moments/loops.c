// Loops, nested, small enough to be unrolled, with breaks and continues.
// watch: counter
// visits: 15
// variants: -O2; -Os -fno-pie -no-pie; clang -O2 -fPIC; clang -O0 -no-pie -fno-pie
#include <stdio.h>

unsigned long counter;
static unsigned char bytes[40];

__attribute__((noinline)) static unsigned long triangle(unsigned n) {
    unsigned long sum = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < i; j++) {
            sum += j;
            counter++;
        }
    return sum;
}

__attribute__((noinline)) static unsigned find(unsigned char byte) {
    unsigned at = 0;
    while (at < sizeof bytes && bytes[at] != byte)
        at++;
    return at;
}

__attribute__((noinline)) static unsigned fill(unsigned seed) {
    unsigned odd = 0;
    for (unsigned i = 0; i < sizeof bytes; i++) {
        seed = seed * 1103515245 + 12345;
        bytes[i] = (unsigned char)(seed >> 16);
        if (bytes[i] % 2 == 0)
            continue;
        counter++;
        if (++odd == 15)
            break;
    }
    return odd;
}

__attribute__((noinline)) static unsigned collatz(unsigned long n) {
    unsigned steps = 0;
    do {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    } while (n != 1);
    counter += steps;
    return steps;
}

int main(void) {
    unsigned sum = (unsigned)triangle(14);
    for (unsigned i = 0; i < 5; i++)
        sum += fill(i) + find((unsigned char)(i * 40)) + collatz(i + 3);
    printf("%u\n", sum);
    return 0;
}
