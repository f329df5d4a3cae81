#!/bin/bash
# Interrupted anywhere in code without ticks, where each instruction is passed millions of times, and
# back: see parts/interrupted.py.
. "$(dirname "$0")/lib.bash"
needs python3
make_plain filled filled.c -O1
records 0 ./filled 600000
for seed in 1 2; do
    timeout 100 python3 "$here/parts/interrupted.py" run.rec $seed 6 8 >went 2>&1 || fail "$(tail -3 went)"
done
