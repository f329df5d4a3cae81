#!/bin/bash
# Where a library does much between two ticks, few of them are stepped: the search takes about as
# many steps as one call has instructions, not as all those of some dozen ticks.
. "$(dirname "$0")/../bad/lib.bash"
make_program program --quipu=moment -O1 -g <<'EOF'
#include <stdio.h>
int reached;
static char text[5000];
int main(void) {
    int length = 0;
    for (int i = 0; i < 3000; i++) {
        length += snprintf(text, sizeof text, "%.300f", 1e250 / (i + 3));
        reached = i;
    }
    return length == 0;
}
EOF
for value in 0 1777; do
    ends 0 quipu when --format=json "reached == $value && text[0]" -- ./program
    python3 -c '
import json, sys
found = json.load(open("output"))
sys.exit(not found["steps"] < 500000 or found["from_start"])' || fail "$(cat output)"
    moment=$(sed -n 's/.*"moment": "\(.*\)",/\1/p' output)
    ends 0 quipu goto --exec='gdb -q -batch -p $QUIPU_PID -ex "p reached"' "$moment" -- ./program
    grep -qx ".1 = $((value ? value - 1 : 0))" output || fail "at $moment: $(cat output)"
done
