#!/bin/bash
# What is inserted leaves no row of unwinding at a function's end, which is about no instruction: the
# assembler and linker of binutils 2.44 fail at such, where they make SFrame of them.
set -uo pipefail
fail() {
    echo "frame_rows.sh: $*"
    exit 1
}
cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[64];

__attribute__((noinline)) static int half(int n) {
    return n % 2 ? atoi("7") : n / 2;
}

__attribute__((noinline)) static int sum(int n, int (*of)(int)) {
    int all[32], last = 0;
    for (int i = 0; i < n; i++)
        all[i % 32] = last += of(i);
    memset(text, all[5], (size_t)n % sizeof text);
    return last;
}

__attribute__((noinline)) static int jump(int (*of)(int)) {
    return of(3);
}

int main(void) {
    printf("%d %d\n", sum(1000, half), jump(half));
    return 0;
}
C

# Of `readelf -wF`: the end of each function, and the row that stands there.
cat >rows.py <<'E2'
import re
import sys
end = functions = rows = 0
for line in sys.stdin:
    frame = re.search(r' FDE .*pc=[0-9a-f]+\.\.([0-9a-f]+)', line)
    row = re.match(r'([0-9a-f]{16}) ', line)
    if frame:
        end = int(frame.group(1), 16)
        functions += 1
    elif row and end:
        rows += 1
        if int(row.group(1), 16) >= end:
            sys.exit(f'a row at the end of the function that ends at {end:x}')
if functions < 4 or rows < 10:
    sys.exit(f'{functions} functions, {rows} rows')
E2

for mode in count event calls moment watch; do
    for flags in '-O2 -fno-pie' '-O2 -fPIC' '-O0' '-O2 -masm=intel' '-O2 -fno-omit-frame-pointer'; do
        # shellcheck disable=SC2086
        quipu cc --quipu=$mode $flags -c program.c -o program.o || fail "$mode $flags: cannot compile"
        readelf -wF program.o | python3 rows.py || fail "$mode $flags"
    done
    quipu cc --quipu=$mode -O2 -Wa,--gsframe program.c -o program 2>errors || fail "SFrame, $mode: $(cat errors)"
    ./program >output || fail "SFrame, $mode: the program fails"
done
