#!/bin/bash
# Interrupted anywhere in code without ticks, where each instruction is passed millions of times, and
# back: see parts/interrupted.py.  So in another thread than the first one.  The last writes of a
# variable are found far back, also where it has the same value in front of them and behind, and the
# last of many calls.
. "$(dirname "$0")/lib.bash"
needs python3
make_plain filled filled.c -O1 -pthread

# goes SCRIPT ARGUMENTS...: of parts/, on the recording run.rec.
goes() {
    timeout 100 python3 "$here/parts/$1" run.rec "${@:2}" >went 2>&1 || fail "$1: $(tail -3 went)"
}

# place SYMBOL: its address in the process.
place() {
    printf '%x' $((0x555555554000 + 0x$(nm filled | sed -n "s/ . $1\$//p")))
}
records 0 ./filled 300000
goes interrupted.py 1 6 8
has_debug_registers && goes last_writes.py "$(place quiet)" 4 3 2 1 0
goes last_pass.py "$(place note)" 299999
records 0 ./filled 300000 thread
goes interrupted.py 2 3 4
