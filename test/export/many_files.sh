#!/bin/bash
# Hundreds of data files are read in memory that is that of the binaries: what all of them hold is
# far more than the commands may have.  The sums are those of all.
. "$(dirname "$0")/lib.bash"
files=120
memory=150000 # kilobytes of addresses; a command on one file takes half of it

# Many cells, and threads that each have their own: a file of megabytes.
{
    for i in $(seq 400); do
        echo "int f$i(int n) { while (n > $i && n % 3) n -= n % 2 ? $i : 1; return n ? n : $i; }"
    done
    cat <<'EOT2'
#include <pthread.h>
static pthread_barrier_t barrier;
static void *wait_for_all(void *unused) {
    pthread_barrier_wait(&barrier);
    return unused;
}
int main(void) {
    pthread_t threads[64];
    pthread_barrier_init(&barrier, 0, 64);
    for (int i = 0; i < 64; i++)
        pthread_create(&threads[i], 0, wait_for_all, 0);
    for (int i = 0; i < 64; i++)
        pthread_join(threads[i], 0);
    return 0
EOT2
    for i in $(seq 400); do
        echo "* f$i(3)"
    done
    echo ';}'
} >program.c
quipu cc -O1 -pthread --quipu=count,event program.c -o program || fail "cannot build"
./program || fail "it failed"
data=(quipu.data/*.quipu)

mkdir many
for ((i = 0; i < files; i++)); do
    ln "${data[0]}" "many/program.$i.quipu"
done
size=$(stat -c %s "${data[0]}")
[[ $((files * size / 1024)) -gt $memory ]] || fail "a file has but $size bytes"

# What checks addresses needs more of them.
limit() {
    [[ -v ASAN_OPTIONS ]] || ulimit -v $memory
}

quipu report --format=json "${data[0]}" >one.json || fail "one file"
for words in "report --format=json" "report --by=process --format=json" \
    "report --by=thread --format=json" "report --by=instruction --format=json" "annotate --asm --data=DATA" \
    "info --format=json" "stat --data --format=json" "merge -o sum.quipu" "diff --format=json one" \
    "export --to=json" "export --to=callgrind"; do
    words=${words/one/${data[0]}}
    [[ $words == *DATA* ]] || words+=" DATA"
    # shellcheck disable=SC2086
    (limit && quipu ${words//DATA/many} >output 2>messages) || fail "$words: $(cat messages)"
    ! grep -qv '^quipu: reading ' messages || fail "$words: $(cat messages)"
done
for form in "" --by=process; do
    # shellcheck disable=SC2086
    quipu report --format=json $form many >many.json || fail "many files"
    python3 - $files <<'EOT2' || fail "the sums are others"
import json, sys
one, many = json.load(open('one.json')), json.load(open('many.json'))
times = int(sys.argv[1])
total = sum(f['instructions'] for f in one['functions'])
if 'processes' in many:
    assert len(many['processes']) == times
    assert all(p['instructions'] == total for p in many['processes'])
else:
    calls = {f['name']: f['calls'] for f in one['functions']}
    assert len(many['functions']) == len(calls)
    assert all(f['calls'] == times * calls[f['name']] for f in many['functions'])
    assert sum(f['instructions'] for f in many['functions']) == times * total
EOT2
done
