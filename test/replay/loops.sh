#!/bin/bash
# Who waits in a loop without system calls does not hang the recording, and is found again in the replay:
# see parts/loops.c.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_plain optimized loops.c -O2 -pthread
make_plain plain loops.c -O0 -pthread
for program in ./optimized ./plain; do
    repeats 5 "$program"
    grep -q '^signal 14$' replayed.out || fail "'$program': no signal came"
    [[ $(quipu info --format=json run.rec) == *'"stopped"'* ]] && fail "'$program' was not recorded to its end"
done
exit 0
