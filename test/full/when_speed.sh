#!/bin/bash
# 'quipu when' on a run of more than a billion instructions takes less than three times the plain
# run's time and a second; gdb's software watchpoints are measured on a part of it, and the ratio is
# printed.
set -uo pipefail
unset QUIPU_DATA

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}
cat >program.c <<'EOT'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct entry { unsigned long key; unsigned count; };
static struct { struct entry *entries; unsigned used, room; } table;
static unsigned long state = 88172645463325252ul;
static unsigned long next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
__attribute__((noinline)) static void add(unsigned long key) {
    struct entry *entry = &table.entries[key % table.room];
    if (entry->count == 0) {
        entry->key = key;
        table.used++;
    }
    entry->count++;
}
int main(int argc, char **argv) {
    unsigned long turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 65000000;
    table.room = 1 << 20;
    table.entries = calloc(table.room, sizeof *table.entries);
    for (unsigned long i = 0; i < turns; i++) {
        unsigned long key = next();
        if (key % 64 == 5)
            add(key);
    }
    printf("%u\n", table.used);
    return 0;
}
EOT
gcc -O2 -g program.c -o plain && quipu cc --quipu=moment -O2 -g program.c -o moment &&
    quipu cc --quipu=event -O2 -g program.c -o event || fail "cannot build"
instructions=$(quipu stat --format=json -- ./event 2>&1 | python3 -c "
import re, sys
text = sys.stdin.read()
print(max(int(n) for n in re.findall(r'\b[0-9]{8,}\b', text)))")
last=$(./plain)
((instructions > 1000000000)) || fail "only $instructions instructions"
# seconds COMMAND...: the least of three runs.
seconds() {
    timeout 300 python3 - "$@" <<'EOT'
import subprocess, sys, time
best = 1e9
for _ in range(3):
    begin = time.monotonic()
    done = subprocess.run(sys.argv[1:], capture_output=True, check=False)
    best = min(best, time.monotonic() - begin)
    if done.returncode:
        sys.exit(f'{sys.argv[1:]}: {done.returncode} {done.stderr.decode()}')
print(f'{best:.3f}')
EOT
}
plain=$(seconds ./plain) || fail "$plain"
printf '%s instructions in %s s\n' "$instructions" "$plain"
for expression in "table.used == $last" "table.used > $last / 2" \
    "table.entries && table.used == $last" \
    "(table.room + table.used + (state == 0) - (state == 0) + !table.entries - !table.entries) == $last + 1048576"; do
    quick=$(seconds quipu when "$expression" ./moment) || fail "$quick"
    printf '%8s s  %s\n' "$quick" "$expression"
    python3 -c "import sys; sys.exit($quick > 3 * $plain + 1)" ||
        fail "'$expression': $quick s, and the plain run takes $plain s"
done
[[ -x $(command -v gdb) ]] || exit 0
turns=1000
slow=$(seconds gdb -q -batch -ex 'set can-use-hw-watchpoints 0' -ex 'break main' -ex "run $turns" \
    -ex 'watch table.used if table.used > 100000' -ex continue ./plain) || fail "$slow"
none=$(seconds gdb -q -batch -ex 'break main' -ex "run $turns" -ex continue ./plain) || fail "$none"
python3 -c "
share = $turns / 65000000
rate = share * $instructions / max($slow - $none, 1e-3)
hours = $instructions / rate / 3600
print(f'gdb, software watchpoint: {rate:.0f} instructions a second, {hours:.1f} hours for the run; '
      f'{hours * 3600 / $quick:.0f} times as long as quipu when')"
