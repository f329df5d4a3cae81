#!/bin/bash
# Where code was put on an edge, the end of the way behind it is a copy (src/flow/tails.c); debuggers
# see its line and its callers as in the twin, at every instruction.
. "$(dirname "$0")/common.sh.inc"

quipu=$lib/../../bin/quipu
cat >tail.c <<'EOT'
int check(int number);
int take(int number, int *place) {
    int result = check(number);
    if (result < 0)
        goto out;
    if (check(result) == 7)
        goto out;
    result += check(3);
out:
    *place = result;
    return result;
}
EOT
cat >main.c <<'EOT'
#include <stdlib.h>
int take(int number, int *place);
int check(int number) {
    return number;
}
int main(int argc, char **argv) {
    int number = atoi(argv[1]);
    return take(number, (int *)(long)argc) + 1;
}
EOT

# Calls and lines where the program is stopped by the write to address 2.
stopped_at() {
    gdb -q -batch -ex run -ex bt --args "$1" "$2" 2>/dev/null | grep '^#' |
        sed 's/0x[0-9a-f]* in //'
}
for mode in none count moment; do
    "$quipu" cc --quipu=$mode -O2 -g tail.c main.c -o $mode || fail "cannot build in mode $mode"
done
for number in -1 7 5; do
    stopped_at ./none $number >expected
    grep -q 'take .* at tail.c:10' expected || fail "the twin stopped elsewhere: $(cat expected)"
    for mode in count moment; do
        stopped_at ./$mode $number >seen
        diff expected seen || fail "$number, $mode: other calls or lines than in the twin: $(cat seen)"
    done
done
objdump -d --disassemble=take count | grep -c 'ret$' >returns
[ "$(cat returns)" -gt 1 ] || fail "no end of 'take' was copied"
