#!/bin/bash
# trace_print.sh: quipu print as text, JSON and CSV says the same; options select; a closed pipe ends
# it quietly; quipu info's sums are those of the rows.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <pthread.h>
#include <stddef.h>
static int table[64];
__attribute__((noinline)) static void add(int *from, int count) {
    for (int i = 0; i < count; i++)
        table[i % 64] += from[i];
}
static void *run(void *from) {
    add(from, 50);
    return NULL;
}
int main(void) {
    static int numbers[100];
    pthread_t thread;
    add(numbers, 100);
    pthread_create(&thread, NULL, run, numbers);
    return pthread_join(thread, NULL);
}
C
"$quipu" cc --quipu=trace -O1 -g program.c -o program || fail "cannot build"
"$quipu" trace -o t -- ./program || fail "cannot record"

for format in text json csv; do
    "$quipu" print --asm --format=$format t >t.$format || fail "--format=$format failed"
done
"$quipu" info --format=json t >info.json
python3 - <<'PYTHON' || fail "the formats differ"
import csv, json
text, threads, gaps = [], [], []
for line in open('t.text'):
    fields = line.split()
    if fields[0] == 'process':
        process, thread = int(fields[1]), int(fields[3])
        threads.append([process, thread])
    elif fields[0] == '--':
        gaps.append(line[len('-- not traced: '):].strip())
    elif fields[0] in 'RW':
        text[-1][6].append((fields[0] == 'W', int(fields[1], 16), int(fields[2])))
    else:
        function, offset = fields[2].split('+')
        text.append([thread, int(fields[0], 16), int(fields[1]), function, int(offset, 16),
                     line.rstrip('\n').split(' ', 4)[4], [], fields[3]])
objects = [json.loads(line) for line in open('t.json')]
assert [o['gap'] for o in objects if 'gap' in o] == gaps
objects = [o for o in objects if 'gap' not in o]
of_json = [[o['thread'], o['address'], o['size'], o['function'], o['offset'], o['assembly'],
            [(r['write'], r['address'], r['size']) for r in o['references']],
            f"{o['file'].split('/')[-1]}:{o['line']}" if o['line'] else '-'] for o in objects]
of_csv, csv_gaps = [], []
for row in csv.DictReader(open('t.csv', newline='')):
    if row['access'] == 'gap':
        csv_gaps.append(row['function'])
        continue
    if int(row['reference']) < 2:
        of_csv.append([int(row['thread']), int(row['address']), int(row['size']), row['function'],
                       int(row['offset']), row['assembly'], [],
                       f"{row['file'].split('/')[-1]}:{row['line']}" if row['line'] else '-'])
    if row['access']:
        of_csv[-1][6].append((row['access'] == 'write', int(row['data_address']), int(row['data_size'])))
assert len(text) > 800, len(text)
assert text == of_json
assert text == of_csv
assert csv_gaps == gaps and 'pthread_create' in gaps, gaps
assert len(threads) == 2 and threads[0][0] == threads[1][0] and threads[0][1] != threads[1][1]
# the loop's references: each element is read, and each of the table read and written
data = [r for row in text if row[3] == 'add' for r in row[6] if row[7] == 'program.c:6']
assert sum(writes for writes, _, _ in data) == 150, data[:9]
assert sum(not writes for writes, _, _ in data) == 300, data[:9]
# sums
(trace,) = json.load(open('info.json'))['traces']
for thread in trace['threads']:
    rows = [row for row in text if row[0] == thread['thread']]
    references = [r for row in rows for r in row[6]]
    assert thread['instructions'] == len(rows)
    assert thread['reads'] == sum(not r[0] for r in references)
    assert thread['writes'] == sum(r[0] for r in references)
    assert thread['read_bytes'] == sum(r[2] for r in references if not r[0])
    assert thread['written_bytes'] == sum(r[2] for r in references if r[0])
    assert thread['fault'] is None and thread['record_bytes'] > 0
assert not trace['cut'] and not trace['lost']
assert {gap['callee']: gap['count'] for gap in trace['gaps']} == {gap: gaps.count(gap) for gap in gaps}
assert sum(thread['gaps'] for thread in trace['threads']) == len(gaps)
PYTHON

# The text of an instruction is what objdump says, but for jumps.
objdump -d --no-show-raw-insn program >objdump.txt
read -r address < <("$quipu" print --asm --function=add t | awk '/ movslq/ {print $1; exit}')
grep -qiE "${address: -3}:.*movslq" objdump.txt || fail "no movslq at $address"

# Options.
process=$(awk '{print $2; exit}' t.text)
mapfile -t threads < <(awk '/^process/ {print $4}' t.text)
lines() {
    "$quipu" print "$@" t | grep -vE '^(process|  [RW]|--)' >lines.txt || true
    wc -l <lines.txt
}
all=$(lines)
first=$(lines --thread="${threads[0]}")
second=$(lines --thread="${threads[1]}")
[ $((first + second)) = "$all" ] || fail "threads: $first and $second are not $all"
[ "$(lines --process="$process")" = "$all" ] || fail "--process takes others"
[ "$(lines --first=10)" = 20 ] || fail "--first=10 is not 10 a thread"
[ "$(lines --first=0)" = 0 ] || fail "--first=0 prints something"
[ "$(lines --skip=$((second - 5)) --thread="${threads[1]}")" = 5 ] || fail "--skip"
[ "$(lines --skip=18446744073709551615)" = 0 ] || fail "--skip of all"
lines --function=add --skip=3 --first=4 --thread="${threads[0]}" >/dev/null
grep -E '^[0-9a-f]+ [0-9]+ add\+' <(awk '$4 == '"${threads[1]}"' {exit} {print}' t.text) |
    sed -n 4,7p | cut -d' ' -f1-4 | diff - lines.txt || fail "--function with --skip and --first"
"$quipu" print -o t.gz t
gzip -dc t.gz | cmp - <("$quipu" print t) || fail "-o t.gz"
expect_error 1 "did you mean 'add'" "$quipu" print --function=ad t
expect_error 1 'none of the trace is of this thread' "$quipu" print --thread=1 t
expect_error 1 'none of the trace is of this process' "$quipu" print --process=1 t
expect_error 1 "--first='x': not a number" "$quipu" print --first=x t
expect_error 1 "no such format" "$quipu" print --format=xml t
expect_error 1 'name one trace' "$quipu" print
expect_error 1 "cannot write '/dev/full'" "$quipu" print -o /dev/full t

# A closed pipe.
{ "$quipu" print t 2>messages || true; } | head -n 3 >head.txt
[ ! -s messages ] || fail "a closed pipe: $(cat messages)"
[ "$(wc -l <head.txt)" = 3 ] || fail "a closed pipe has no lines"
