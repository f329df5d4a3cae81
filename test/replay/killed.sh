#!/bin/bash
# kill -9 of a program with threads and processes, of its recorder, a limit of the file's size: nothing hangs, and what
# was recorded up to then plays.
# timeout: 200
. "$(dirname "$0")/lib.bash"
make_plain last last.c -O1 -pthread

# starts OPTIONS...: the program is recorded in the background, and has written some lines.
starts() {
    rm -f run.rec recorded.out
    quipu record "$@" -o run.rec -- ./last >recorded.out 2>recorded.err &
    recorder=$!
    awaits grep -q "^$((RANDOM % 20 + 5)) " recorded.out
    program=$(pgrep -P $recorder)
}

# has_ended STATUS: the recorder has ended so, and nothing is left of the program.
has_ended() {
    local status=0
    awaits eval "! kill -0 $recorder 2>/dev/null"
    wait $recorder 2>/dev/null || status=$?
    [[ $status -eq $1 ]] || fail "the recorder has ended with $status, not $1: $(head -3 recorded.err)"
    awaits eval "! grep -q '^State:.[^ZX]' /proc/$program/status 2>/dev/null"
}

# The replay ends with STATUS, and has written what the run has, from some line on.
plays() {
    local first
    replays "$1" 2>/dev/null
    first=$(grep -nxF -m 1 "$(head -1 replayed.out)" recorded.out | cut -d: -f 1)
    tail -n +"$first" recorded.out | head -n "$(wc -l <replayed.out)" | cmp - replayed.out ||
        fail "the replay differs"
}

for options in --last=0.2 --shuffle; do
    starts $options
    kill -9 "$program"
    has_ended 137
    plays 137
done
starts --last=0.2
kill -9 $recorder
has_ended 137
plays 1
[[ $(<replayed.err) == *" was cut behind "* ]] || fail "the cut is not told: $(<replayed.err)"

(
    ulimit -f 1010
    exec timeout 60 quipu record -o run.rec -- ./last >recorded.out 2>recorded.err
)
[[ $? -eq 5 && $(<recorded.err) == *"cannot write it: File too large"* ]] ||
    fail "a file that becomes too long: $(<recorded.err)"
replays 1
[[ $(<replayed.err) == *" was cut behind "* ]] || fail "the cut is not told: $(<replayed.err)"
