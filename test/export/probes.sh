#!/bin/bash
# Functions with systemtap's probes count, and a probe's note tells where its no-operation is.
set -uo pipefail

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

cat >probes.c <<'EOC'
#include <stdio.h>
#include <sys/sdt.h>

static int fibonacci(int n) {
    DTRACE_PROBE1(numbers, enter, n);
    int result = n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    DTRACE_PROBE2(numbers, leave, n, result);
    return result;
}

int main(void) {
    long sum = 0;
    double half = 0.5;
    for (int i = 0; i < 10; i++) {
        DTRACE_PROBE3(numbers, turn, i, &sum, half);
        sum += fibonacci(i);
    }
    printf("%ld\n", sum);
    return 0;
}
EOC
for options in -O0 '-O2 -g' '-O3 -fPIE -pie' '-O2 -fno-pie -no-pie'; do
    rm -rf quipu.data
    # shellcheck disable=SC2086
    quipu cc $options probes.c -o probes >messages 2>&1 || fail "$options: $(cat messages)"
    [ -s messages ] && fail "$options: $(cat messages)"
    [ "$(./probes)" = 88 ] || fail "$options: the program computes something else"
    readelf -n probes >notes
    quipu report --by=instruction --limit=1000 --format=json >report.json
    python3 - "$options" <<'EOP' || fail "$options: see above"
import collections
import json
import re
import sys

text = open('notes').read()
rows = {row.get('address'): row for row in json.load(open('report.json'))['instructions']}
executed = collections.Counter()
for name, place in re.findall(r'Name: (\w+)\s+Location: (0x[0-9a-f]+)', text):
    row = rows.get(int(place, 16))
    if not row or row['text'] != 'nop':
        raise SystemExit(f'{name} at {place}: {row}')
    executed[name] += row['count']
if executed != {'enter': 276, 'leave': 276, 'turn': 10}:
    raise SystemExit(executed)
EOP
done
