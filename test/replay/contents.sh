#!/bin/bash
# Mapped files have their contents in a replay, without the files: also where a process maps parts of what another one has
# mapped, or has written to its own.
. "$(dirname "$0")/lib.bash"
make_plain contents contents.c -O1
bytes() { seq $((1000 * $1)) 9999999 | head -c "$2"; }
{ bytes 1 262144; head -c 262144 /dev/zero; bytes 2 262144; } >zeros
bytes 3 525288 >full
bytes 4 4096 >next
sleep 3.1 # what has just been written is recorded for each mapping
./contents >plain.out
repeats 0 ./contents
cmp plain.out recorded.out || fail "the program does something else when it is recorded"
rm zeros full next
replays 0
cmp recorded.out replayed.out || fail "without the files the replay differs"
