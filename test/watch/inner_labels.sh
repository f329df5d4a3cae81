#!/bin/bash
# Inline assembly defines a symbol in the middle of a function: writes and calls behind it are the function's own.
. "$(dirname "$0")/lib.bash"
cat >label.c <<'EOT'
#include <stdio.h>
int guarded;
__attribute__((noinline)) void leaf(int value) {
    guarded += value;
    __asm__ volatile("");
}
__attribute__((noinline)) void put(int value) {
    leaf(1);
    __asm__ volatile("cmpl $0, %1\n\t"
                     "je inner_label\n\t"
                     "movl %1, %0\n"
                     "inner_label:"
                     : "+m"(guarded)
                     : "r"(value));
    guarded++;
    leaf(2);
    __asm__ volatile("");
}
int main(void) {
    put(7);
    return printf("%d\n", guarded) < 0;
}
EOT
for compiler in cc clang; do
    command -v ${compiler/cc/gcc} >/dev/null || continue
    quipu-$compiler --quipu=watch -O2 -g label.c -o label || fail "$compiler: cannot build"
    watches 0 --guard guarded --allow put --allow leaf --fatal -- ./label
    watches 1 --guard guarded --allow main --fatal -- ./label # main is there, but has not come to write
    ! grep -q 'is allowed' messages || fail "$compiler: $(cat messages)"
    watches 0 -e guarded -- ./label
    [[ $(grep -c ' put ' hits) -eq 2 ]] || fail "$compiler: $(cat hits)"
    quipu-$compiler --quipu=calls -O2 -g label.c -o label || fail "$compiler: cannot build"
    QUIPU_DATA=data ./label >output || fail "$compiler: ends with $?"
    quipu report --by=callsite --format=csv data >sites || fail "no report"
    [[ $(grep -c '^put,.*,leaf,' sites) -eq 2 ]] || fail "$compiler: $(cat sites)"
    rm -rf data
done
leaves_nothing
