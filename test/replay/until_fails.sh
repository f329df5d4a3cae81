#!/bin/bash
# 'quipu record --until-fails --shuffle' finds a race that hardly ever shows, and keeps that run.
# timeout: 300
. "$(dirname "$0")/lib.bash"
ulimit -c 0
make_program flaky --quipu=moment -O1 -pthread <"$here/parts/flaky.c"
timeout 200 quipu record --until-fails=5000 --shuffle -o run.rec -- ./flaky 2>recorded.err
[[ $? -eq 134 ]] || fail "no run has failed: $(tail -1 recorded.err)"
grep -Eq "^quipu: run [0-9]+ of 5000 ended with signal 6; 'run.rec' has it$" recorded.err ||
    fail "it does not say which run failed: $(tail -1 recorded.err)"
for _ in 1 2; do
    replays 134 2>/dev/null
    grep -v ^quipu: recorded.err | cmp - replayed.err || fail "the replay has another race"
done

# No run fails: no recording, and status 0.  Each run reads the same input.
seq 5 >numbers
quipu record --until-fails=3 --shuffle -o none.rec -- wc -l <numbers >counts 2>said ||
    fail "exit status $? where no run fails"
[[ $(grep -c '^5$' counts) -eq 3 ]] || fail "the runs have read: $(cat counts)"
[[ ! -e none.rec ]] || fail "the recording of a good run is kept"
grep -q 'none of 3 runs failed' said || fail "it does not say so: $(cat said)"

# The second run fails.
quipu record --until-fails=9 -o second.rec -- sh -c 'test ! -e there && touch there' 2>said
[[ $? -eq 1 ]] || fail "the status of the run that failed is lost"
grep -q "run 2 of 9 ended with status 1; 'second.rec' has it" said || fail "it says: $(cat said)"
for value in 0 x -1 5x ''; do
    ! quipu record --until-fails="$value" -o bad.rec -- true 2>said || fail "--until-fails=$value is taken"
    grep -q "until-fails" said || fail "--until-fails=$value: $(cat said)"
done
