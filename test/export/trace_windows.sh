#!/bin/bash
# trace_windows.sh: 'quipu trace' keeps a part of the run: what a function executes, the first instructions, or
# samples. Each is a piece of the whole trace, and what is missing is marked.
# timeout: 600
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#define OWN __attribute__((noinline)) static
static unsigned table[1024];
OWN unsigned mix(unsigned x, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        x = x * 1103515245 + 12345;
        if (x & 1 << 20)
            table[x >> 22] += i;
    }
    return x;
}
OWN unsigned seldom(unsigned x) {
    unsigned before = x;
    for (int i = 0; i < 3; i++)
        x = mix(x, 5000);
    return x + before;
}
OWN int compare(const void *a, const void *b) {
    return (int)(mix(*(const unsigned *)a, 5) >> 16) - (int)(mix(*(const unsigned *)b, 5) >> 16);
}
OWN unsigned sort(unsigned x) {
    unsigned numbers[100];
    for (int i = 0; i < 100; i++)
        numbers[i] = x = mix(x, 2);
    qsort(numbers, 100, sizeof *numbers, compare);
    return numbers[50];
}
int main(void) {
    unsigned x = 1;
    for (int round = 0; round < 12; round++) {
        x = mix(x, 48000);
        if (round == 1)
            x += sort(seldom(x));
    }
    printf("%u\n", x + table[5]);
    return 0;
}
C
"$quipu" cc --quipu=trace -O2 -g program.c -o program || fail "cannot build"

record() {
    local name=$1
    shift
    setarch -R "$quipu" trace -o "$name.trace" "$@" -- ./program >out || fail "cannot record: $*"
    cmp out expected || fail "$*: the program printed something else"
    "$quipu" print "$name.trace" >"$name.rows" || fail "$*: cannot print"
    sed -i 1d "$name.rows"
}
# Each stretch of NAME's rows between marks must be in the whole trace, behind the one before it.
is_in_whole() {
    awk -v name="$1" '
        NR == FNR { whole[NR] = $0; if ($0 in first) next_same[last[$0]] = NR; else first[$0] = NR; last[$0] = NR; next }
        /^-- not traced: not recorded$/ { at = 0; marks++; next }
        at == 0 {
            for (candidate = first[$0]; candidate && candidate <= used; candidate = next_same[candidate]);
            start = candidate; at = candidate; stretch = 1; rows[1] = $0; used_here = at
            if (!at) { print name ": " $0 " is not in the whole"; exit 1 }
            used = at; next
        }
        {
            stretch++; rows[stretch] = $0; at++
            while (whole[at] != $0) {
                for (start = next_same[start]; start; start = next_same[start]) {
                    for (i = 1; i <= stretch && whole[start + i - 1] == rows[i]; i++);
                    if (i > stretch) break
                }
                if (!start) { print name ": row " FNR " differs: " $0; exit 1 }
                at = start + stretch - 1
            }
            used = at
        }' whole.rows "$1.rows" || fail "$1 is no piece of the whole"
}
marks() {
    grep -c '^-- not traced: not recorded$' "$1.rows" || true
}

./program >expected
record whole
[ "$(marks whole)" = 0 ] || fail "the whole trace has marks"

for function in seldom sort compare; do
    record $function --function=$function
    is_in_whole $function
    calls=$(grep -c " $function+0x0 " whole.rows)
    [ "$(grep -c " $function+0x0 " $function.rows)" = "$calls" ] || fail "$function: calls are missing"
    # Between two calls from qsort nothing of the trace ran.
    [ "$(marks $function)" = 1 ] || fail "$function: $(marks $function) windows"
    grep " main+" $function.rows && fail "$function: its caller is in the window"
    grep " mix+" $function.rows >/dev/null || fail "$function: what it calls is not in the window"
done
small=$(stat -c %s seldom.trace) large=$(stat -c %s whole.trace)
[ "$small" -lt "$large" ] || fail "a window of $small bytes is not smaller than $large"

record first --first=5000
is_in_whole first
[ "$(grep -c '^[0-9a-f]* [0-9]* [a-z]' first.rows)" = 5000 ] || fail "not the first 5000 instructions"
head -n "$(wc -l <first.rows)" whole.rows | cmp - first.rows || fail "not the begin of the run"

[ "$(stat -c %s first.trace)" -lt 4000 ] || fail "5000 instructions need $(stat -c %s first.trace) bytes"
record short --first=3
[ "$(grep -c '^[0-9a-f]* [0-9]* [a-z]' short.rows)" = 3 ] || fail "not the first 3 instructions"
record most --first=$(($(grep -c '^[0-9a-f]* [0-9]* [a-z]' whole.rows) - 1))
head -n "$(wc -l <most.rows)" whole.rows | cmp - most.rows || fail "not all but the last one"

record every --every=1/3
is_in_whole every
[ "$(marks every)" -ge 1 ] || fail "samples have no marks between them"
[ "$(wc -l <every.rows)" -lt $(($(wc -l <whole.rows) / 2)) ] || fail "samples are not less than half"
"$quipu" info every.trace | grep 'window  *1 of each 3 buffers' >/dev/null || fail "info does not tell the window"

# Two buffers and a slow compression: the thread does not wait, and nothing is lost in silence.
setarch -R "$quipu" trace --drop --memory=600K --level=19 -o drop.trace -- ./program >out || fail "cannot drop"
cmp out expected || fail "--drop: the program printed something else"
"$quipu" info drop.trace >info 2>&1 || fail "--drop: $(cat info)"
"$quipu" print drop.trace 2>err | sed 1d >drop.rows
is_in_whole drop
if grep '^  missing  *nothing' info >/dev/null; then
    cmp drop.rows whole.rows || fail "--drop: rows are missing in silence"
else
    grep 'missing  *records: threads have left them out' info >/dev/null || fail "--drop: $(cat info)"
    [ "$(marks drop)" -ge 1 ] || fail "--drop: no mark where rows are missing"
fi

! "$quipu" trace --function=seldon -- ./program >out 2>err || fail "an unknown function is accepted"
grep "no such function that records; did you mean 'seldom'?" err >/dev/null || fail "$(cat err)"
! "$quipu" trace --every=3/1 -- ./program >out 2>err || fail "--every=3/1 is accepted"
grep -F -- "--every='3/1': not N/M such as 1/100" err >/dev/null || fail "$(cat err)"
