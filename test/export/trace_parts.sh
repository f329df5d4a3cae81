#!/bin/bash
# trace_parts.sh: a trace's parts are read alone, and one after the other they are the whole: also where a part
# begins below functions that wait, callbacks of libraries, handlers, and stacks that are too deep to be kept.
# timeout: 300
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#define OWN __attribute__((noinline)) static
static unsigned table[1024];
static jmp_buf back;
OWN unsigned mix(unsigned x, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        x = x * 1103515245 + 12345;
        if (x & 1 << 20)
            table[x >> 22] += i;
    }
    return x;
}
/* What waits has values in registers that the calls must give back. */
OWN unsigned descend(unsigned x, int depth) {
    unsigned before = x * 3, *place = &table[x >> 22];
    if (depth == 0)
        return mix(x, 400);
    x = descend(mix(x, 3), depth - 1);
    *place += before;
    return x + table[before >> 22];
}
OWN int compare(const void *a, const void *b) {
    unsigned first = *(const unsigned *)a, second = *(const unsigned *)b;
    mix(first, 20);
    return (first > second) - (first < second);
}
OWN void handle(int number) { mix((unsigned)number, 3000); }
OWN void jump(unsigned x) {
    mix(x, 50);
    longjmp(back, 1);
}
int main(void) {
    unsigned numbers[300], x = 1;
    signal(SIGUSR1, handle);
    for (int round = 0; round < 24; round++) {
        for (int i = 0; i < 300; i++)
            numbers[i] = x = mix(x, 2);
        qsort(numbers, 300, sizeof *numbers, compare);
        x = descend(x, round % 6 == 5 ? 3000 : 200);
        if (!setjmp(back))
            jump(x);
        raise(SIGUSR1);
    }
    printf("%u\n", x + table[5]);
    return 0;
}
C

# The rows without the line of each thread.
rows() {
    grep -v '^process ' || true
}

for flags in -O0 -O2 "-O3 -fomit-frame-pointer -fno-plt"; do
    "$quipu" cc --quipu=trace $flags -g program.c -o program || fail "cannot build with $flags"
    "$quipu" trace -o whole.trace -- ./program >/dev/null || fail "$flags: cannot record"
    "$quipu" print whole.trace | rows | cksum >expected
    for count in 2 5; do
        filled=0
        for part in $(seq $count); do
            "$quipu" print --part="$part/$count" whole.trace >part || fail "$flags: part $part of $count"
            [ "$(wc -l <part)" -gt 1 ] && filled=$((filled + 1))
            rows <part
        done >all
        cksum <all >got
        cmp expected got || fail "$flags: $count parts are not the whole"
    done
    # A part without rows has been read with the one in front of it. Some must have begun by themselves.
    [ "$filled" -ge 3 ] || fail "$flags: of 5 parts only $filled could be read alone"
done

for bad in 0/4 5/4 1/0 x 1/2/3 -1/2; do
    ! "$quipu" print --part="$bad" whole.trace >out 2>err || fail "--part=$bad is accepted"
    grep -F -- "quipu: error: --part='$bad': not a part such as 1/4" err >/dev/null || fail "$(cat err)"
done
