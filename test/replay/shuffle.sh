#!/bin/bash
# Random turns of threads that race, with signals that come within the steps behind a tick, also where only the end of
# the run is kept: the replay sees the same.
# timeout: 200
. "$(dirname "$0")/lib.bash"
make_program raced --quipu=moment -O1 -pthread <"$here/parts/raced.c"
for options in "" "" --last=0.1; do
    # shellcheck disable=SC2086
    ends 4 quipu record --shuffle $options -o run.rec -- ./raced
    cp output recorded.out
    replays 4
    tail -n "$(wc -l <replayed.out)" recorded.out | cmp - replayed.out || fail "$options: the replay differs"
done
