// All kinds of objects: bit-fields, unions, structs by value, arrays, statics of files and functions,
// read-mostly and thread-local ones; loops that compilers turn into vectors and string instructions.
// unfiltered
// watch: bits = bits:8
// watch: either = either:16
// watch: points = points:96
// watch: points[1].y = points+32:8
// watch: matrix = matrix:400
// watch: matrix[3] = matrix+120:40
// watch: text = text:40
// watch: hidden = hidden:4
// watch: wide = wide:16
// variants: -O2; -O0; -O3; -O2 -fno-pie -no-pie; clang -O3; clang -O0; -Os; -O3 -march=x86-64-v3; -O2 -masm=intel; -O2 -fPIE; -O2 -static
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct bits {
    unsigned a : 3, b : 7, c : 1;
    unsigned long d : 20, e : 12, f : 1;
} bits;
union {
    double d;
    uint64_t u;
    struct {
        uint16_t low;
        char rest[14];
    };
} either;
struct point {
    double x, y;
    long tag;
} points[4];
int matrix[10][10];
char text[40];
static int hidden;
__int128 wide;
float _Complex spiral = 1;

__attribute__((noinline)) static struct point make(double x, long tag) {
    return (struct point){x, -x, tag};
}

__attribute__((noinline)) static void fields(unsigned n) {
    bits.a = n;
    bits.b += n;
    bits.c ^= 1;
    bits.d = n * 12345;
    bits.e--;
    bits.f = n > 2;
}

__attribute__((noinline)) static void unions(double d) {
    either.d = d;
    either.u ^= 1ull << 63;
    either.low = 3;
    either.rest[5]++;
    memcpy(&either.rest[6], &d, sizeof d);
}

__attribute__((noinline)) static void structs(int n) {
    points[n] = make(n + 0.5, n);
    points[(n + 1) % 4] = points[n];
    struct point swapped = points[0];
    points[0] = points[3];
    points[3] = swapped;
    points[1].y *= 2;
}

__attribute__((noinline)) static void loops(int n) {
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 10; k++)
            matrix[i][k] += i * k + n;
    for (int i = 0; i < 10; i++)
        matrix[i][3] = 0;
    for (int i = 9; i > 0; i--)
        matrix[3][i] = matrix[3][i - 1];
    for (int i = 0; i < 39; i++)
        text[i] = (char)('a' + (i + n) % 26);
    for (char *p = text; *p; p += 5)
        *p = '-';
}

__attribute__((noinline)) static void others(int n) {
    static int calls;
    static __thread long mine = 5;
    hidden = ++calls + (int)mine++;
    wide = wide * 1000003 + n;
    wide <<= 3;
    spiral *= 1.0f + 0.5f * I;
    hidden += (int)crealf(spiral);
}

int main(void) {
    for (int i = 0; i < 4; i++) {
        fields((unsigned)i + 1);
        unions(i + 1.25);
        structs(i);
        loops(i);
        others(i);
    }
    printf("%u %g %d %s\n", bits.b, points[1].y, hidden, text);
    return 0;
}
