#!/bin/bash
# A hit's moment, where those are counted: another run, which is not watched, comes to the instruction
# when the object holds what it held, or behind the call when it holds what the call has left.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'END_OF_SOURCE'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct { int a, b; long c; double d[4]; } state;
volatile int counter;
char text[16];
int sorted[4];
__attribute__((noinline)) static void fill(int n) {
    state.a = n;
    state.b = n * 2;
    state.c += n;
    for (int i = 0; i < 4; i++)
        state.d[i] = n + i;
}
static int compare(const void *a, const void *b) {
    counter++;
    return *(const int *)a - *(const int *)b;
}
static void *work(void *unused) {
    for (int i = 0; i < 5; i++) {
        counter += 3;
        fill(i);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    for (int i = 0; i < 3; i++) {
        fill(i + 100);
        memset(text, 'a' + i, (size_t)i * 3 + 1);
        for (int j = 0; j < 4; j++)
            sorted[j] = (j * 7 + i) % 4;
        qsort(sorted, 4, sizeof *sorted, compare);
        if (counter % 2)
            counter++;
    }
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
END_OF_SOURCE
for level in -O2 -O0; do
    quipu cc --quipu=watch,moment $level -g -no-pie -pthread program.c -o program || fail "cannot build"
    watches 0 --format=json -e state -e counter -e text -e sorted -- ./program
    python3 - <<'EOT' || fail "$level: moments are not reached"
import json, subprocess, sys
READ = '''python3 -c "
import os
with open('/proc/%s/mem' % os.environ['QUIPU_PID'], 'rb') as memory:
    memory.seek({address})
    print('holds', memory.read({size}).hex())"'''
hits = [json.loads(line) for line in open('hits')]
assert len(hits) > 60, len(hits)
chosen = hits[::7] + [h for h in hits if h['cause'] != 'store'][:5] + hits[-2:]
assert any(h['cause'] == 'store' for h in chosen) and any(h['cause'] != 'store' for h in chosen)
assert any('/2~' in h['moment'] for h in chosen), 'no second thread'
bases = {}
for hit in hits:  # the region's address: a write to its first byte is told
    if hit['offset'] == 0:
        bases.setdefault(hit['expression'], hit['address'])
for hit in chosen:
    size = len(hit['old_bytes']) // 2
    address = bases[hit['expression']] + hit['offset']
    done = subprocess.run(['quipu', 'goto', hit['moment'], '--exec',
                           READ.format(address=address, size=size), '--', './program'],
                          capture_output=True, text=True)
    wanted = hit['old_bytes' if hit['cause'] == 'store' else 'new_bytes']
    if 'holds ' + wanted not in done.stdout:
        sys.exit(f"{hit}\n{done.stdout}{done.stderr}")
EOT
done
quipu cc --quipu=watch -g -pthread program.c -o plain || fail "plain"
nm --defined-only plain >symbols || fail "nm"
! grep -E "quipu_(moment|countdown)" symbols || fail "moments are in a program that counts none"
leaves_nothing
