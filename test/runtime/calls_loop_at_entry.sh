#!/bin/bash
# A function whose first instruction is the head of a loop, with a local in the red zone: code at its entry must
# not run in each iteration, nor write over the local, and one call is one call.
. "$(dirname "$0")/../bad/lib.bash"
cat >program.c <<'EOT'
#include <stdio.h>
struct state { const int *volatile p, *volatile end; volatile int have; long sum; };
__attribute__((noinline)) void sum_previous(struct state *s) {
    volatile int last;
    do {
        if (s->have)
            s->sum += last;
        last = *s->p++;
        s->have = 1;
    } while (s->p != s->end);
}
__attribute__((noinline)) void clear(char *p, char *end) {
    do
        *p++ = 0;
    while (p != end);
}
/* An indirect jump leads to the first instruction. */
__attribute__((noinline)) long interpret(const unsigned char *p, long n) {
    static const void *const table[] = {&&add, &&stop};
    volatile long last;
add:
    if (p[1] == 1)
        n += last;
    last = *p * 10 + n;
    p += 2;
    goto *table[*p];
stop:
    return n + last;
}
int main(void) {
    static const unsigned char operations[] = {0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1};
    static const int a[] = {1, 2, 3, 4, 5};
    static char bytes[1000];
    struct state s = {a, a + 5, 0, 0};
    sum_previous(&s);
    clear(bytes, bytes + sizeof bytes);
    printf("%ld\n", s.sum + interpret(operations, 5));
    return 0;
}
EOT
for compiler in cc clang; do
    command -v $compiler >/dev/null || continue
    for mode in calls count,calls count,event,moment,calls watch,calls; do
        for flags in -O1 -O2 -Os '-O2 -fPIC' '-Os -static'; do
            # shellcheck disable=SC2086 # the flags are words
            ends 0 quipu-$compiler --quipu=$mode $flags program.c -o program
            rm -rf quipu.data
            ends 0 ./program
            [[ $(<output) == 170 ]] || fail "$compiler $flags, $mode: $(<output), not 170"
            ends 0 quipu report --by=callsite --format=csv quipu.data
            for callee in sum_previous clear interpret; do
                grep -qx "main,$callee,1" < <(cut -d, -f1,5,9 output) ||
                    fail "$compiler $flags, $mode: '$callee' was not called once: $(<output)"
            done
        done
    done
done
