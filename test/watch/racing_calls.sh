#!/bin/bash
# Threads compare what is watched, behind calls that are not known to write, while others store there:
# what a store has changed is the store's alone, and what a call has changed is told, once.
# timeout: 120
. "$(dirname "$0")/lib.bash"

cat >program.c <<'EOT'
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

enum { STORES = 150000, CALLERS = 3, CHANGES = 20000 };
extern void changes_elsewhere(volatile uint32_t *word, uint32_t value);
static volatile uint64_t cells[4];
static volatile uint8_t bytes[40];
static volatile uint32_t changed;
static volatile int done;

static void *store(void *argument) {
    for (uint64_t i = 1; i <= STORES; i++) {
        cells[i % 4] = i;
        bytes[i % 40] += 1;
    }
    done = 1;
    return argument;
}

static void *call(void *argument) {
    while (!done)
        getppid();
    return argument;
}

int main(void) {
    pthread_t threads[CALLERS + 1];
    for (int i = 0; i <= CALLERS; i++)
        pthread_create(&threads[i], 0, i ? call : store, 0);
    for (uint32_t i = 1; i <= CHANGES; i++) {
        changes_elsewhere(&changed, i);

    }
    for (int i = 0; i <= CALLERS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
EOT
echo '#include <stdint.h>
void changes_elsewhere(volatile uint32_t *word, uint32_t value) { *word = value; }' >plain.c
gcc -O2 -c plain.c -o plain.o || fail "cannot build 'plain.o'"
quipu cc --quipu=watch -O2 -g -pthread program.c plain.o -o program || fail "cannot build 'program'"
watches 0 --format=json -e cells -e bytes -e changed -- ./program
python3 - <<'EOT' || fail "hits that nobody made, or none for what was made"
import collections
import json
hits = [json.loads(line) for line in open('hits')]
told = collections.Counter((hit['name'].split('[')[0], hit['cause']) for hit in hits)
assert told == {('cells', 'store'): 150000, ('bytes', 'store'): 150000,
                ('changed', 'change'): 20000}, told
assert [int(hit['new']) for hit in hits if hit['name'] == 'changed'] == list(range(1, 20001))
EOT
