#!/bin/bash
# calls_processors.sh: the trees of many processes, read by several workers, are those that one worker
# reads, with the same numbers in the same order: together, by thread, and with a damaged one left out.
. "$(dirname "$0")/lib.bash"
cat >tree.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static unsigned state;
static unsigned next(void) { return state = state * 1103515245 + 12345, state >> 16; }
static int left(int), right(int);
__attribute__((noinline)) static int both(int depth) {
    return depth <= 0 ? 1 : (next() & 1 ? left(depth - 1) : right(depth - 1)) + left(depth - 2);
}
__attribute__((noinline)) static int left(int depth) {
    return depth <= 0 ? 2 : (next() & 3 ? right(depth - 1) : both(depth - 1)) + 1;
}
__attribute__((noinline)) static int right(int depth) {
    return depth <= 0 ? 3 : (next() & 1 ? both(depth - 2) : left(depth - 1)) * 3;
}
static void *run(void *argument) {
    both(5);
    return argument;
}
int main(int argc, char **argv) {
    pthread_t thread;
    state = argc > 1 ? atoi(argv[1]) : 1;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    return both(12) == 7;
}
END
"$quipu" cc -g -O1 -pthread --quipu=count,calls tree.c -o tree
for ((seed = 1; seed <= 24; seed++)); do
    QUIPU_DATA=data ./tree $seed || fail "$seed: status $?"
done
processors=$(nproc)
[[ $processors -gt 1 ]] || echo "skipped: there is one processor only"
first=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')

# same COMMAND...: it prints and says the same on one processor and on all.
same() {
    taskset -c "$first" "$@" >one 2>one.messages || fail "'$*': $(cat one.messages)"
    "$@" >all 2>all.messages || fail "'$*': $(cat all.messages)"
    cmp one all || fail "'$*' prints something else"
    cmp one.messages all.messages || fail "'$*' says something else"
    [[ -s one ]] || fail "'$*' prints nothing"
}

formats() {
    same "$quipu" report --by=callsite --format=csv data
    for format in html json callgrind collapsed speedscope; do
        same "$quipu" export --to=$format -o - data
    done
}
formats
[[ $("$quipu" report --by=callsite --format=csv data | wc -l) -gt 6 ]] || fail "too few call sites"

# Damaged: a node in front of its parent.  Its offset is where the root's children begin.
python3 - <<'END'
import glob, struct
path = sorted(glob.glob('data/*.quipu'))[20]
data = bytearray(open(path, 'rb').read())
node = struct.Struct('<IIQQQqIIQII')
assert node.size == 64
for at in range(0, len(data) - 128, 64):
    root, child = node.unpack_from(data, at), node.unpack_from(data, at + 64)
    if not root[0] and not root[3] and root[6] == 2 and child[0] == 1 and child[3]:
        struct.pack_into('<I', data, at + 64, 9)
        break
else:
    raise SystemExit('no tree')
open(path, 'wb').write(data)
END
formats
grep -q "have a node in front of its parent; they are left out" all.messages || fail "not said: $(cat all.messages)"
[[ $(wc -l <all.messages) -eq 1 ]] || fail "said: $(cat all.messages)"
