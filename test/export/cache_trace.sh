#!/bin/bash
# quipu cache reads a trace as 'quipu print' shows it: written as a lackey file, it has the same
# misses. Sums by function, line and thread are those of the whole.
# timeout: 60
. "$(dirname "$0")/lib.bash"
needs python3

cat >program.c <<'C'
#include <pthread.h>
static int table[40000], seen;
__attribute__((noinline)) static void scan(int step) {
    for (int i = 0; i < 40000; i += step)
        table[i]++;
}
static void *look(void *seed) {
    unsigned x = *(unsigned *)seed;
    for (int i = 0; i < 20000; i++)
        seen += table[(x = x * 1103515245 + 12345) / 65536 % 40000];
    return seed;
}
int main(void) {
    static char from[3000], to[3000];
    unsigned seed = 1;
    pthread_t thread;
    scan(1);
    pthread_create(&thread, 0, look, &seed);
    pthread_join(thread, 0);
    scan(16);
    char *source = from + 5, *target = to + 70;
    unsigned long count = 300;
    __asm__ volatile("rep movsq" : "+S"(source), "+D"(target), "+c"(count)::"memory");
    look(&seed);
    return 0;
}
C
"$quipu" cc --quipu=trace -O2 -g -pthread program.c -o program
"$quipu" trace -o program.trace -- ./program
"$quipu" print program.trace >printed
python3 - <<'END' >program.lackey
# The fetch, and then its data: a write of what was just read makes one reference of both.
import re
pending = None
for text in open("printed"):
    words = text.split()
    if re.match(r"  [RW] ", text):
        if pending and words[0] == "W" and pending == ("R", *words[1:3]):
            print(f" M {words[1]},{words[2]}")
            pending = None
            continue
        if pending:
            print(f" {'L' if pending[0] == 'R' else 'S'} {pending[1]},{pending[2]}")
        pending = None if "?" in words else tuple(words[:3])
        continue
    if pending:
        print(f" {'L' if pending[0] == 'R' else 'S'} {pending[1]},{pending[2]}")
        pending = None
    if words[0] not in ("process", "--"):
        print(f"I  {words[0]},{words[1]}")
if pending:
    print(f" {'L' if pending[0] == 'R' else 'S'} {pending[1]},{pending[2]}")
END
caches=(--l1i="1K,2,64" --l1d="4K,4,64" --l2="32K,8,64" --llc="128K,16,64")
"$quipu" cache "${caches[@]}" --format=csv program.trace >of_trace
"$quipu" cache "${caches[@]}" --format=csv --from=lackey program.lackey >of_lackey
cmp of_trace of_lackey || fail "from the trace: $(cat of_trace); from what is printed: $(cat of_lackey)"
for view in function line thread; do
    "$quipu" cache "${caches[@]}" --by=$view --format=json program.trace >$view.json
done
python3 - <<'END' || fail "views do not agree"
import csv, json
kinds = {row["kind"]: row for row in csv.DictReader(open("of_trace"))}
wanted = {
    "instructions": kinds["fetch"]["references"], "l1i_misses": kinds["fetch"]["l1_misses"],
    "reads": kinds["read"]["references"], "writes": kinds["write"]["references"],
    "l1d_read_misses": kinds["read"]["l1_misses"], "l1d_write_misses": kinds["write"]["l1_misses"],
    "l2_misses": kinds["all"]["l2_misses"], "llc_misses": kinds["all"]["llc_misses"],
    "llc_write_misses": kinds["write"]["llc_misses"],
}
for view in ("function", "line", "thread"):
    rows = json.load(open(f"{view}.json"))[view + "s"]
    for column, value in wanted.items():
        got = sum(row[column] for row in rows)
        assert got == int(value), (view, column, got, value)
    if view == "function":
        names = {row["function"] for row in rows}
        assert {"main", "scan", "look"} <= names, names
    if view == "line":
        scan = [row for row in rows if row.get("line") == 5]
        assert scan and scan[0]["file"].endswith("/program.c") and scan[0]["l1d_misses"] >= 2500, scan
    if view == "thread":
        assert len(rows) == 2 and len({row["process"] for row in rows}) == 1, rows
END
