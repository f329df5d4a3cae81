#!/bin/bash
# Traces that are foreign, truncated, corrupt, or whose binary is gone or of another build: one error that
# names the file and the cause, or what can still be read; never a crash, and never without an end.
# timeout: 300
. "$(dirname "$0")/lib.bash"
program='#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static int table[64];
static volatile unsigned long many = 65521;
static char from[65536], to[65536];
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static int choose(int n) {
    switch (n & 7) {
    case 0: return 3 * table[1];
    case 1: return table[n];
    case 2: return table[n] + 4;
    case 3: return n ^ 5;
    case 4: return n + table[9];
    default: return 1;
    }
}
static void *run(void *argument) {
    for (int i = 0; i < 200; i++)
        table[i % 64] ^= choose(i * 7);
    qsort(table, 64, sizeof *table, compare);
    unsigned long count = many;
    char *a = to, *b = from;
    __asm__ volatile("rep movsb" : "+D"(a), "+S"(b), "+c"(count) : : "memory");
    return argument;
}
int main(void) {
    pthread_t thread;
    run(NULL);
    pthread_create(&thread, NULL, run, NULL);
    return pthread_join(thread, NULL);
}'
make_program program --quipu=trace -O1 -g <<<"$program"
quipu trace --level=0 -o t -- ./program || fail "cannot record"
ends 0 quipu print t
mv output whole.txt
readers=("print" "export --to=lackey" "export --to=din" "export --to=json" "info")

# all_refuse TEXT FILE: every command that reads traces refuses FILE.
all_refuse() {
    for reader in "${readers[@]}"; do
        # shellcheck disable=SC2086
        refuses "$1" "$2" -- quipu $reader "$2"
    done
}

# ---- what is no trace ----
refuses "cannot open 'missing'" "No such file" -- quipu print missing
: >empty
echo "just text" >text
head -c 4096 /dev/zero >zeros
head -c 8 t >short
mkfifo pipe
mkdir directory
for file in empty text zeros short pipe directory program; do
    refuses "'$file'" "is not a trace" -- timeout 20 quipu print "$file"
done
refuses "is not a trace" -- quipu info short
refuses "is not a trace" -- quipu export --to=lackey -o out short
[[ ! -e out ]] || fail "an export of nothing is there"
quipu trace -o nothing -- true || fail "quipu trace does not end as its program"
refuses "'nothing' has no records" -- quipu print nothing
refuses "'nothing' has no records" -- quipu cache nothing
cp t version
printf '\377' | dd of=version bs=1 seek=8 conv=notrunc status=none
all_refuse "is a trace of version 255" version

# ---- the binary ----
mv program moved
all_refuse "'$PWD/program'" t
echo "just text" >program
all_refuse "it is no ELF file" t
quipu cc --quipu=trace -O0 -g -o program program.c || fail "cannot build it anew"
all_refuse "is of another build" t
mv moved program
ends 0 quipu print t
cmp output whole.txt || fail "the trace of the right binary is not what it was"

# ---- what was cut ----
# survives COMMAND...: the command ends with 0, or with 1 and an error.
survives() {
    local status=0
    timeout 60 "$@" >output 2>messages || status=$?
    [[ $status -eq 0 || ($status -eq 1 && $(grep -c '^quipu: error: ' messages) -gt 0) ]] ||
        fail "'$*': exit status $status: $(head -c 2000 messages)"
}
size=$(stat -c %s t)
head -c $((size - 1)) t >cut.trace
survives quipu print cut.trace
grep -q "'cut.trace' is cut" messages || fail "nothing tells that it is cut: $(cat messages)"
ends 0 quipu info --format=json t
python3 -c 'import json; trace, = json.load(open("output"))["traces"]; assert not trace["cut"]' || fail "it is not cut"
survives quipu info cut.trace
grep -q 'missing  *the end' output || fail "info does not tell that it is cut: $(cat output)"
RANDOM=36
for ((i = 0; i < 25; i++)); do
    head -c $(((RANDOM * 32768 + RANDOM) % size)) t >cut.trace
    for reader in print info; do
        survives quipu $reader cut.trace
    done
done

# ---- what was changed ----
cat >change.py <<'PYTHON'
"""Writes traces with a few changed bytes: in the header, a block's header, a path, or in records."""
import random, struct, sys
source, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
whole = open(source, 'rb').read()
FILE, BLOCK, MODULE, LAST = 16, 112, 2, 3
modules, records, at = [], [], FILE
while at < len(whole):
    stored, size, _, kind = struct.unpack_from('<4I', whole, at)
    assert stored == size
    if kind != LAST:
        (modules if kind == MODULE else records).append((at, stored))
    at += BLOCK + stored
for seed in range(first, last):
    chance = random.Random(seed)
    data = bytearray(whole)
    for _ in range(chance.choice([1, 1, 2, 8, 40])):
        where = chance.choice(['file', 'header', 'records', 'records', 'records', 'path'])
        block, size = chance.choice(modules if where == 'path' else records)
        at = {'file': chance.randrange(8, FILE), 'header': block + chance.randrange(BLOCK)}.get(
            where, block + BLOCK + chance.randrange(size))
        data[at] = chance.choice([0, 1, 2, 4, 255, data[at] ^ 1 << chance.randrange(8), chance.randrange(256)])
    open(f'changed.{seed}', 'wb').write(data)
PYTHON
followed=0
for ((i = 0; i < 200; i++)); do
    ((i % 20)) || {
        rm -f changed.*
        python3 change.py t $i $((i + 20)) || fail "cannot change it"
    }
    # shellcheck disable=SC2086
    survives quipu ${readers[i % 5]} changed.$i
    ! grep -q 'cannot be followed' messages || followed=$((followed + 1))
done
[[ $followed -gt 5 ]] || fail "only $followed of the changed traces cannot be followed: no record was changed"

# A repeated instruction with more turns than any memory has room for.  Only records are changed: the
# bytes may stand in a build's id, too.
python3 - <<'PYTHON' || fail "the number of turns is not in the trace"
import struct
data, turns = bytearray(open('t', 'rb').read()), (65521).to_bytes(8, 'little')
at, changed = 16, 0
while at < len(data):
    stored, _, _, kind = struct.unpack_from('<4I', data, at)
    begin, end = at + 112, at + 112 + stored
    if kind == 1:
        changed += data[begin:end].count(turns)
        data[begin:end] = data[begin:end].replace(turns, (1 << 60).to_bytes(8, 'little'))
    at = end
assert changed
open('turns', 'wb').write(data)
PYTHON
ends 1 timeout 60 quipu print -o out turns
grep -q 'repeats more often than can be followed' messages || fail "turns: $(head -c 1000 messages)"

# Compressed records: what was changed is found by their checksum.
quipu trace -o packed -- ./program || fail "cannot record"
[[ $(stat -c %s packed) -lt $(stat -c %s t) ]] || fail "compressed, it is not smaller"
ends 0 quipu print packed
python3 - <<'PYTHON' || fail "cannot change it"
import struct
data = bytearray(open('packed', 'rb').read())
at, found = 16, None
while at < len(data):
    stored, size, _, kind = struct.unpack_from('<4I', data, at)
    if kind == 1 and stored < size:
        found = at + 112 + stored // 2
    at += 112 + stored
data[found] ^= 4
open('changed', 'wb').write(data)
PYTHON
ends 1 quipu print -o out changed
grep -q 'a chunk of its records is corrupt' messages || fail "changed: $(head -c 1000 messages)"
