#!/bin/bash
# Memory to which a call gives other contents than the program has written has them in a replay, too, without the file.
. "$(dirname "$0")/lib.bash"
make_plain mappings mappings.c -O1
for text in zero one. two. last; do printf '%-4096s' $text; done >file
for options in "" --stops; do
    cp file mapped
    timeout 100 quipu record $options -o run.rec -- ./mappings mapped >recorded.out 2>recorded.err
    [[ $? -eq 6 ]] || fail "the program has not ended: $(head -3 recorded.err)"
    rm mapped
    replays 6
    cmp recorded.out replayed.out || fail "the replay differs"
    cp file mapped
    ./mappings mapped >plain.out
    cmp plain.out recorded.out || fail "the program does something else when it is recorded"
done
