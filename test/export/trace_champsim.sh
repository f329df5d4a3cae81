#!/bin/bash
# trace_champsim.sh: quipu export --to=champsim, record by record, with what quipu print and the
# instructions' text say: kinds of branches as ChampSim tells them, whether they are taken, registers,
# and addresses of memory.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static int table[64], sum;
static double mean;
static char from[1000], to[1000];
__attribute__((noinline)) static int one(int n) { return n + 1; }
__attribute__((noinline)) static int two(int n) { return n < 3 ? n : two(n - 1) * 2; }
static int (*functions[])(int) = {one, two, abs};
__attribute__((noinline)) static int choose(int n) {
    switch (n) {
    case 0: return table[3];
    case 1: return sum * 3;
    case 2: return sum - 1;
    case 3: return table[5] ^ 9;
    case 4: return one(n);
    case 5: return table[7] + 4;
    default: return 0;
    }
}
__attribute__((noinline)) static void copy(unsigned long count) {
    char *target = to, *source = from;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(count) : : "memory");
}
static void *run(void *argument) {
    for (int i = 0; i < 100; i++) {
        table[i % 64] += functions[i % 3](i % 8);
        sum ^= choose(i % 8);
        mean = mean * 0.5 + table[i % 7];
    }
    copy(11);
    return argument;
}
int main(void) {
    pthread_t thread;
    run(NULL);
    pthread_create(&thread, NULL, run, NULL);
    return pthread_join(thread, NULL);
}
C
for flags in -O0 -O2; do
    "$quipu" cc --quipu=trace $flags -g program.c -o program || fail "cannot build"
    "$quipu" trace -o t -- ./program || fail "cannot record"
    thread=$("$quipu" info --format=json t |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["traces"][0]["threads"][0]["thread"])')
    expect_error 1 'has several threads' "$quipu" export --to=champsim -o all.champsim t
    [ ! -e all.champsim ] || fail "an export that failed is there"
    "$quipu" export --to=champsim --thread="$thread" -o champsim t || fail "no export"
    "$quipu" print --asm --format=json --thread="$thread" t >steps.json || fail "no print"
    python3 - <<'PYTHON' || fail "$flags: the records are not those of the trace"
import collections, json, re, struct
SP, FLAGS, IP = 6, 25, 26
steps = [step for step in map(json.loads, open('steps.json')) if 'gap' not in step]
data = open('champsim', 'rb').read()
assert len(data) % 64 == 0
records = [struct.unpack('<QBB2B4B2Q4Q', data[at:at + 64]) for at in range(0, len(data), 64)]


def kind(record):
    """As ChampSim tells it (inc/instruction.h), and none where it is no branch."""
    written, read = set(record[3:5]) - {0}, set(record[5:9]) - {0}
    other = bool(read - {SP, FLAGS, IP})
    if IP not in written:
        return None
    table = {(False, False, False, False, False): 'jump', (False, False, False, True, False): 'indirect jump',
             (False, True, True, False, False): 'conditional', (True, True, False, False, True): 'call',
             (True, True, False, True, True): 'indirect call', (True, False, False, False, True): 'return'}
    return table[SP in read, IP in read, FLAGS in read, other, SP in written]


def kind_of_text(text):
    words = text.split()
    if words[0] in ('notrack', 'bnd'):
        words = words[1:]
    name, operand = words[0], words[1] if len(words) > 1 else ''
    if name.startswith('ret'):
        return 'return'
    if name.startswith('call'):
        return 'indirect call' if operand.startswith('*') else 'call'
    if name.startswith('jmp'):
        return 'indirect jump' if operand.startswith('*') else 'jump'
    return 'conditional' if name[0] == 'j' else None


kinds, at = collections.Counter(), 0
for step, behind in zip(steps, steps[1:] + [None]):
    first, written, read = at, [], []
    writes = [r['address'] for r in step['references'] if r['write']]
    reads = [r['address'] for r in step['references'] if not r['write']]
    while True:
        record = records[at]
        assert record[0] == step['address'], (step, record)
        written += [a for a in record[9:11] if a]
        read += [a for a in record[11:15] if a]
        at += 1
        if len(written) + len(read) >= len(writes) + len(reads):
            break
    assert (written, read) == (writes, reads), (step, written, read)
    record = records[first]
    wanted = kind_of_text(step['assembly'])
    assert kind(record) == wanted, (step, record)
    assert record[1] == (wanted is not None)
    kinds[wanted] += 1
    if wanted == 'conditional' and behind:
        target = step['assembly'].split()[-1]
        taken = f"{behind['function']}+0x{behind['offset']:x}" == target
        assert record[2] == taken, (step, behind, record)
        kinds['taken' if taken else 'not taken'] += 1
    elif wanted != 'conditional':
        assert record[2] == (wanted is not None), (step, record)
    if len(writes) > 2:
        assert 'movsb' in step['assembly'] and at - first == 6, (step, at - first)
    # registers of some instructions
    move = re.fullmatch(r'mov %rsp, %rbp', step['assembly'])
    if move:
        assert record[3:9] == (5, 0, SP, 0, 0, 0), record
    scalar = re.fullmatch(r'addsd %xmm(\d+), %xmm(\d+)', step['assembly'])
    if scalar:
        source, target = (64 + int(n) for n in scalar.groups())
        assert record[3] == target and {source, target} <= set(record[5:9]), record
        kinds['addsd'] += 1
    if re.match(r'(add|sub|xor|and|or)[lq]? %\w+, %\w+$', step['assembly']):
        assert FLAGS in record[3:5], (step, record)
        kinds['flags'] += 1
assert at == len(records), (at, len(records))
for needed in ('indirect jump', 'conditional', 'call', 'indirect call', 'return', 'taken', 'not taken',
               'addsd', 'flags'):
    assert kinds[needed] > 20, kinds
PYTHON
done
