#!/bin/bash
# Random and hostile packets: the server of a replay answers or leaves, and does not crash.
# timeout: 300
. "$(dirname "$0")/lib.bash"
needs python3
make_plain wild debugged.c -O0 -g
records 3 ./wild
for seed in 1 2 3; do
    timeout 200 python3 "$here/parts/hostile.py" run.rec $seed 300 >sent 2>&1 || fail "$(tail -3 sent)"
done
