#!/bin/bash
# trace_fork.sh: a child of fork goes on in functions of its parent.  It has their registers: each address is
# that of the parent at the same place.  Where they return to each other there is no gap.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
static long sums[4];
APART static long split(long *values, int n) {
    long room[n]; /* its size is not known, so the function has a frame pointer */
    memset(room, 0, sizeof room);
    long child = fork();
    for (int i = 0; i < n; i++)
        values[i] += room[i] + child;
    return child;
}
APART static long work(long *values, int n, long *into) {
    long more = values[0] * 3, other = n * 5;
    long child = split(values, n);
    for (int i = 0; i < n; i++)
        into[i & 3] += values[i] * more + other;
    return child;
}
int main(int argc, char **argv) {
    long values[8] = {argc};
    long child = work(values, argc + 7, sums);
    return child ? wait(NULL) < 0 : argv[1] != NULL;
}
C
for mode in trace moment,trace; do
    for flags in -O2 "-O2 -static" -O0; do
        "$quipu" cc --quipu=$mode $flags program.c -o program || fail "cannot build"
        "$quipu" trace -o t -- ./program || fail "$mode, $flags: cannot run it: $?"
        "$quipu" print t >t.text || fail "$mode, $flags: cannot print it"
        grep ' ?$' t.text && fail "$mode, $flags: an address is not known"
        grep 'caller of [^m]' t.text && fail "$mode, $flags: a gap between traced functions"
        awk '/^process/ { n++; next } / (split|work)\+/ { here = 1 } / main\+/ { here = 0 }
             here { sub(/^-- not traced.*/, ""); print >n ".part" }' t.text
        lines=$(wc -l <2.part)
        [ "$lines" -gt 100 ] || fail "$mode, $flags: $lines lines of the child"
        tail -n "$lines" 1.part | diff - 2.part >differences || fail "$mode, $flags: $(head -5 differences)"
    done
done
