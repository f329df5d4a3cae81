#!/bin/bash
# cache_processors.sh: quipu cache --processors gives the misses of a model of coherent caches that is
# written in Python, and gets its references from quipu print; lines that threads share in turn are
# missed each time, and neighbours that they do not share are not.
# timeout: 100
. "$(dirname "$0")/lib.bash"
needs python3

cat >program.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <string.h>
enum { THREADS = 3, ROUNDS = 300 };
static struct {
    _Alignas(64) int same[THREADS];
    _Alignas(64) struct {
        _Alignas(64) int value;
    } apart[THREADS];
} words;
static char table[1 << 15];
static sem_t turns[THREADS];
__attribute__((noinline)) static void share(int *word) {
    *(volatile int *)word = 1;
}
__attribute__((noinline)) static void keep(int *word) {
    ++*(volatile int *)word;
}
__attribute__((noinline)) static void scan(unsigned from) {
    for (unsigned i = 0; i < 40; i++)
        table[(from += 7919) % sizeof table]++;
}
static void *run(void *argument) {
    size_t own = (size_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        sem_wait(&turns[own]);
        share(&words.same[own]);
        keep(&words.apart[own].value);
        scan(i);
        if (i % 50 == 0)
            memmove(table + 100 * own, table + 777, 500);
        sem_post(&turns[(own + 1) % THREADS]);
        scan(i + 1000000 * (unsigned)own);
    }
    return NULL;
}
int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        sem_init(&turns[i], 0, i == 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
C
"$quipu" cc --quipu=trace -O1 -g -pthread program.c -o program || fail "cannot build"
"$quipu" trace -o t -- ./program || fail "cannot record"
"$quipu" print --no-pager --order=global --format=csv t >rows.csv || fail "cannot print"

cat >model.py <<'PYTHON'
# The caches: a list of lines in each set, the recent ones last.
import csv, sys
processors, second = sys.argv[1], int(sys.argv[2])
rows = list(csv.DictReader(open('rows.csv', newline='')))
threads = []   # in the order of the trace: the first one is the main thread
for row in rows:
    if row['thread'] not in threads:
        threads.append(row['thread'])
threads.sort(key=lambda t: int(open('number.' + t).read()))
count = len(threads) if processors == 'threads' else int(processors)

class Cache:
    def __init__(self, size, ways):
        self.ways, self.sets = ways, [[] for _ in range(size // 64 // ways)]
    def miss(self, line):
        lines = self.sets[line % len(self.sets)]
        had = line in lines
        if had:
            lines.remove(line)
        elif len(lines) == self.ways:
            lines.pop(0)
        lines.append(line)
        return not had
    def remove(self, line):
        lines = self.sets[line % len(self.sets)]
        if line in lines:
            lines.remove(line)
            return True
        return False

fetches = [Cache(1024, 2) for _ in range(count)]
data = [Cache(2048, 2) for _ in range(count)]
seconds = [Cache(4096, 4) for _ in range(count)]
last = Cache(16384, 4)
taken = [set() for _ in range(count)]   # lines that another processor's write has taken from it
result = {kind: [0, 0, 0, 0, 0] for kind in ('fetch', 'read', 'write')}

def use(p, kind, address, size, writes):
    numbers = result[kind]
    numbers[0] += 1
    lines = range(address // 64, (address + size - 1) // 64 + 1)
    if kind != 'fetch':
        lost = False
        for line in lines:
            lost |= line in taken[p]
            taken[p].discard(line)
            for other in range(count):
                if writes and other != p:
                    # both caches lose it
                    if data[other].remove(line) | (second and seconds[other].remove(line)):
                        taken[other].add(line)
        numbers[4] += lost
    first = fetches[p] if kind == 'fetch' else data[p]
    missed = [first.miss(line) for line in lines]
    if any(missed):
        numbers[1] += 1
        if second:
            missed = [seconds[p].miss(line) for line in lines]
            if not any(missed):
                return
            numbers[2] += 1
        if any([last.miss(line) for line in lines]):
            numbers[3] += 1

def take(p, references):
    i = 0
    while i < len(references):
        writes, address, size, sure = references[i]
        modifies = i + 1 < len(references) and not writes and references[i + 1] == (True, address, size, True)
        i += 2 if modifies else 1
        if not sure:
            continue
        end = address + size
        while address < end:
            part = end - address
            if size > 64:
                part = min(part, 64 - address % 64)
            use(p, 'write' if writes else 'read', address, part, writes or modifies)
            address += part

pending = None   # processor, and the references that were collected
def flush():
    if pending:
        take(*pending)
for row in rows:
    p = threads.index(row['thread']) % count
    if row['access'] == 'gap':
        flush()
        pending = (p, [])
        continue
    of_gap = row['access'].startswith('gap')
    if not of_gap and int(row['reference']) < 2:
        flush()
        use(p, 'fetch', int(row['address']), int(row['size']), False)
        pending = (p, [])
    if row['access']:
        pending[1].append((row['access'].endswith('write'), int(row['data_address']), int(row['data_size']),
                           row['sure'] == '1'))
flush()
for kind, numbers in result.items():
    print(kind, *numbers)
PYTHON
"$quipu" info --format=json t | python3 -c "
import json, sys
for number, thread in enumerate(json.load(sys.stdin)['traces'][0]['threads']):
    open('number.%d' % thread['thread'], 'w').write(str(number))"

shape=("--l1i=1K,2,64" "--l1d=2K,2,64" "--llc=16K,4,64")
for processors in 1 2 threads; do
    for second in 0 1; do
        l2=none
        [ $second = 0 ] || l2=4K,4,64
        "$quipu" cache --processors=$processors "${shape[@]}" --l2=$l2 --format=json t | python3 -c "
import json, sys
for row in json.load(sys.stdin)['kinds'][:3]:
    print(row['kind'], row['references'], row['l1_misses'], row.get('l2_misses', 0), row['llc_misses'],
          row['coherence_misses'])" >quipu.txt
        python3 model.py $processors $second >model.txt || fail "the model failed"
        cmp -s quipu.txt model.txt ||
            fail "$processors processors, L2 $l2: $(paste -d'|' quipu.txt model.txt | tr '\n' ';')"
    done
done

# The same line is taken away at each turn; lines of their own never are.
"$quipu" cache --processors=threads --by=function --format=json t | python3 -c "
import json, sys
rows = {row['function']: row for row in json.load(sys.stdin)['functions']}
assert 3 * 300 - 3 <= rows['share']['coherence_misses'] <= 3 * 300, rows['share']
assert 3 * 300 - 3 <= rows['share']['invalidations'] <= 3 * 300, rows['share']
assert rows['keep']['coherence_misses'] == 0, rows['keep']
assert rows['keep']['invalidations'] == 0, rows['keep']" || fail "sharing"
"$quipu" cache --processors=1 --format=json t | python3 -c "
import json, sys
assert all(row['coherence_misses'] == 0 for row in json.load(sys.stdin)['kinds'])" || fail "one processor"
"$quipu" cache t | head -n 3 >head.txt
grep -q coherence head.txt && fail "coherence on one processor"

for levels in inclusive exclusive; do
    "$quipu" cache --processors=2 --levels=$levels "${shape[@]}" t >/dev/null || fail "--levels=$levels"
done
expect_error 1 "name 1 to 64" "$quipu" cache --processors=0 t
expect_error 1 "not a number" "$quipu" cache --processors=x t
expect_error 1 "does not name threads" "$quipu" cache --processors=2 --from=lackey /dev/null
expect_error 1 "must have one size" "$quipu" cache --processors=2 --l2=4K,4,128 t
