#!/bin/bash
# clang's -mspeculative-load-hardening compares where each call has returned to with the label that
# stands behind the call, and has pointers lead nowhere where that differs: a function that does so is
# left alone, with its reason, and the program does what it does without quipu.
. "$(dirname "$0")/../needs.sh.inc"
clang=$(command -v clang || command -v clang-14) || needs clang
cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int *next(int *p, int n) {
    return n % 3 ? p + 1 : p;
}

__attribute__((noinline)) static int sum(int *p, int n) {
    int all = 0;
    while (n-- > 0) {
        p = next(p, n);
        all += *p * n;
    }
    return all;
}

__attribute__((noinline)) static int leaf(const int *p, int n) {
    int all = 0;
    for (int i = 0; i < n; i++)
        all += p[i] > 4 ? p[i] : -i;
    return all;
}

int main(void) {
    int numbers[40];
    for (int i = 0; i < 40; i++)
        numbers[i] = abs(20 - i);
    printf("%d %d\n", sum(numbers, 30), leaf(numbers, 40));
    return 0;
}
C
status=0
for options in -O2 -O0 '-O2 -fPIC' '-O2 -fno-pie -no-pie' '-O2 -masm=intel' '-O2 -mno-red-zone'; do
    # shellcheck disable=SC2086
    "$clang" -mspeculative-load-hardening $options program.c -o plain && wanted=$(./plain) || exit 1
    for mode in count event moment calls watch; do
        # shellcheck disable=SC2086
        quipu-clang --quipu=$mode -mspeculative-load-hardening $options program.c -o program 2>messages &&
            said=$(./program)
        code=$?
        [[ $code == 0 && $said == "$wanted" ]] || {
            echo "$mode $options: status $code: '$said': $(cat messages)"
            status=1
        }
        reason='it reads the address that its call has returned to'
        if [[ $options != *zone* && $(cat messages) != *"$reason"* ]]; then
            echo "$mode $options: $(cat messages)"
            status=1
        fi
    done
done
exit $status
