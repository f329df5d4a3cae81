#!/bin/bash
# Time, random numbers, the time stamp counter, process numbers, addresses and the environment are in a
# replay what they were: in dynamic, static and position-independent programs, and those that quipu built.
# timeout: 300
. "$(dirname "$0")/lib.bash"
export OUTSIDE=a
try() {
    repeats 5 "$@"
    OUTSIDE=b replays 5
    cmp recorded.out replayed.out || fail "'$*': the replay has the environment of quipu"
    cp recorded.out first.out
    local reads
    reads=$(quipu info run.rec | sed -n 's/^ *counter reads *//p')
    [ "$reads" -gt 100 ] || fail "'$*': $reads reads of the counter and by cpuid, which alone were more than 100"
    records 5 "$@"
    ! cmp -s recorded.out first.out || fail "'$*': two runs say the same, so this test says nothing"
}
make_plain dynamic outside.c -O2
try ./dynamic one two
make_plain static outside.c -O1 -static -no-pie
try ./static
make_plain static-pie outside.c -O1 -static-pie
try ./static-pie
for mode in count moment watch; do
    make_program "by-$mode" --quipu=$mode -O2 <"$here/parts/outside.c"
    try "./by-$mode"
done
