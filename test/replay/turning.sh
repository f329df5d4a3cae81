#!/bin/bash
# A breakpoint in a loop without ticks, where the turns of threads end, stops the thread; the replay does not take it
# for a fault.
# timeout: 100
. "$(dirname "$0")/lib.bash"
needs python3
make_plain turning turning.c -O1 -pthread
records 0 ./turning
address=$(nm turning | sed -n 's/^\([0-9a-f]*\) T middle.*/\1/p')
[[ $address ]] || fail "the loop has no name"
timeout 200 python3 "$here/parts/turning.py" run.rec "$(printf '%x' $((0x555555554000 + 0x$address)))" 6 >output 2>&1 ||
    fail "$(tail -3 output)"
