#!/bin/bash
# The assembler pads jumps by itself, so that none crosses 32 bytes: where its padding stands depends
# on addresses, which counters move.  Such a file is counted exactly or left alone with one warning;
# its data are never refused as corrupt.
. "$(dirname "$0")/lib.bash"
for shift in 0 1 2 3 5 7 9 11; do
    nops=$(printf 'nop; %.0s' $(seq $shift))
    [[ $shift -gt 0 ]] || nops=
    cat <<END
__attribute__((noinline)) int mix$shift(int a, int b, int c) {
    int sum = 0;
    __asm__ volatile("$nops");
    for (int i = 0; i < a; i++) {
        if (i % 3 == b)
            sum += c;
        else if (i % 5 == c)
            sum -= b;
        else if (sum > 100)
            sum /= 2;
        for (int j = i; j > 2; j -= 2)
            if (j & b)
                sum ^= j;
    }
    return sum;
}
END
done >mix.c
cat >main.c <<'END'
#include <stdio.h>
int mix0(int, int, int), mix1(int, int, int), mix3(int, int, int), mix7(int, int, int);
int main(void) {
    for (int i = 0; i < 3; i++) {
        printf("%d %d\n", mix0(20, 1, 7), mix1(9, i, 3));
        if (i % 2)
            printf("%d %d\n", mix3(9, 2, i), mix7(8, 1, 2));
    }
    return 0;
}
END
cp "$(dirname "$0")/../exact/options.c" options.c
padding=-Wa,-mbranches-within-32B-boundaries

# check PROGRAM SOURCE...
check() {
    local program=$1
    shift
    rm -rf quipu.data
    gcc -O2 -pthread $padding "$@" -o plain -lm || fail "gcc refuses the option"
    ends 0 quipu cc -O2 -pthread $padding "$@" -o "$program" -lm
    warnings=$(grep -c "warning: quipu" messages)
    [[ $warnings -le $# ]] || fail "more than one warning a file: $(cat messages)"
    ./plain >plain.out
    ends 0 "./$program"
    cmp -s plain.out output || fail "other output: $(cat output)"
    if [[ -e quipu.data ]]; then
        ends 0 quipu report --by=instruction --format=json
    fi
}
check mixes main.c mix.c
check options options.c
