#!/bin/bash
# Traces whose starts of chunks, or whose window, are corrupt: an error or what can still be read; never a
# crash, and never without an end.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_program program --quipu=trace -O2 -g <<'C'
#include <stdlib.h>
static unsigned table[1024];
__attribute__((noinline)) static unsigned mix(unsigned x, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        x = x * 1103515245 + 12345;
        if (x & 1 << 20)
            table[x >> 22] += i;
    }
    return x;
}
__attribute__((noinline)) static unsigned descend(unsigned x, int depth) {
    unsigned before = x * 3;
    x = depth ? descend(mix(x, 20), depth - 1) : mix(x, 400);
    return x + before + table[x >> 22];
}
static int compare(const void *a, const void *b) {
    return (int)mix(*(const unsigned *)a, 9) - (int)mix(*(const unsigned *)b, 9);
}
int main(void) {
    unsigned numbers[200], x = 1;
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 200; i++)
            numbers[i] = x = descend(x, 4);
        qsort(numbers, 200, sizeof *numbers, compare);
    }
    return 0;
}
C
quipu trace --level=0 --every=1/2 -o t -- ./program || fail "cannot record"
ends 0 quipu print --part=2/2 --first=100 t
[[ $(wc -l <output) -gt 100 ]] || fail "a part of the trace has no rows"

cat >change.py <<'PYTHON'
"""Writes traces with a few changed bytes in starts of chunks, in headers of blocks, or in the window."""
import random, struct, sys
source, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
whole = open(source, 'rb').read()
FILE, BLOCK, WINDOW = 16, 112, 5
starts, windows, at = [], [], FILE
while at < len(whole):
    stored, _, _, kind = struct.unpack_from('<4I', whole, at)
    start, = struct.unpack_from('<I', whole, at + 36)
    if kind == WINDOW:
        windows.append((at, stored))
    elif start:
        starts.append((at, start))
    at += BLOCK + stored
assert windows and len(starts) > 2
for seed in range(first, last):
    chance = random.Random(seed)
    data = bytearray(whole)
    for _ in range(chance.choice([1, 2, 8, 100])):
        block, size = chance.choice(windows if chance.random() < 0.1 else starts)
        place = chance.choice(['address', 'registers', 'stack', 'header'])
        at = {'address': block + BLOCK + chance.randrange(8), 'header': block + chance.randrange(BLOCK),
              'registers': block + BLOCK + 8 + chance.randrange(136)}.get(
            place, block + BLOCK + chance.randrange(size))
        if at < len(data):
            data[at] = chance.choice([0, 1, 255, data[at] ^ 1 << chance.randrange(8), chance.randrange(256)])
    open(f'changed.{seed}', 'wb').write(data)
PYTHON
# survives COMMAND...: the command ends with 0, or with 1 and an error.
survives() {
    local status=0
    timeout 60 "$@" >output 2>messages || status=$?
    [[ $status -eq 0 || ($status -eq 1 && $(grep -c '^quipu: error: ' messages) -gt 0) ]] ||
        fail "'$*': exit status $status: $(head -c 2000 messages)"
}
readers=("print --part=2/2 --first=500" "print --part=1/3 --first=500" "print --part=3/3 --first=500")
for ((i = 0; i < 120; i++)); do
    ((i % 20)) || {
        rm -f changed.*
        python3 change.py t $i $((i + 20)) || fail "cannot change it"
    }
    # shellcheck disable=SC2086
    survives quipu ${readers[i % 3]} changed.$i
done
