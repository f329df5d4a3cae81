#!/bin/bash
# gdb at a terminal: the keyboard interrupts a replay, also while gdb looks at a condition again and again.
# timeout: 200
. "$(dirname "$0")/lib.bash"
needs gdb python3
make_plain looping looping.c -O1 -g
records 0 ./looping 3000000000
timeout 150 python3 "$here/parts/terminal.py" >shown 2>&1 || fail "$(tail -3 shown)"
[[ -z $(pgrep -f "$PWD/looping") ]] || fail "processes are left"
