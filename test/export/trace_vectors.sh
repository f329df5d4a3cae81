#!/bin/bash
# trace_vectors.sh: what a program has in vector registers stays there where its thread gets the next buffer for
# its trace, with --quipu=trace and with --quipu=moment,trace.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <stdio.h>
/* All sums are in vector registers, and each step records. */
__attribute__((noinline)) static double sum(unsigned x, unsigned count) {
    double a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    for (unsigned i = 0; i < count; i++) {
        x = x * 1103515245 + 12345;
        if (x & 1 << 20)
            a += 1.5, b += a, c -= 0.25, d += c;
        else
            e += 0.5, f += e, g -= 0.125, h += g;
    }
    return a + b + c + d + e + f + g + h;
}
int main(void) {
    printf("%.17g\n", sum(1, 3000000));
    return 0;
}
C
gcc -O2 program.c -o plain || fail "cannot build"
./plain >expected
for mode in trace moment,trace; do
    "$quipu" cc --quipu=$mode -O2 program.c -o program || fail "$mode: cannot build"
    "$quipu" trace -o t -- ./program >output || fail "$mode: cannot record"
    cmp output expected || fail "$mode: the program printed something else: $(cat output)"
    "$quipu" info t >info || fail "$mode: cannot read the trace"
    buffers=$(($(sed -n 's/^  records  *\([0-9]*\) bytes.*/\1/p' info) / 262144))
    [ "$buffers" -ge 5 ] || fail "$mode: only $buffers buffers were filled"
done
