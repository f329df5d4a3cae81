#!/bin/bash
# A file to which a process still records is not read, as it is cut off now and then, and no other one records
# to it. Nothing is lost by the tries.
. "$(dirname "$0")/lib.bash"
mkfifo gate
quipu record -o run.rec -- sh -c 'echo begins; read line <gate; echo "$line"' >recorded &
until grep -qs begins recorded; do sleep 0.05; done
for command in "info" "replay --check" "when x" "pack -o packed.rec"; do
    read -ra words <<<"$command"
    ends 1 timeout 20 quipu "${words[@]}" run.rec
    said "'run.rec' is still being recorded, by process"
done
ends 1 timeout 20 quipu record -o run.rec -- echo other
said "cannot write 'run.rec'"
echo ends >gate
wait $! || fail "the first recorder ends with $?"
replays 0
cmp recorded replayed.out || fail "another output: $(cat replayed.out)"
records 0 echo other # the file is free again
replays 0
grep -qx other replayed.out || fail "the file was not written anew"
