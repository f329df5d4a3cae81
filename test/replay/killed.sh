#!/bin/bash
# kill -9 of a program with threads and processes, of its recorder, signals to all of them, a limit of the file's size:
# nothing hangs, and what was recorded up to then plays.
# timeout: 200
. "$(dirname "$0")/lib.bash"
make_plain last last.c -O1 -pthread
make_plain long last.c -DTURNS=25000 -O1 -pthread
make_program ticks --quipu=moment -O1 -pthread <"$here/parts/last.c"

# starts OPTIONS...: the program is recorded in the background, and has written some lines.
starts() {
    rm -f run.rec recorded.out
    quipu record "$@" -o run.rec -- ./long >recorded.out 2>recorded.err &
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

# A signal that a program sends to its whole process group is the program's, not the recorder's; another one is.
for options in --stops --keep-running; do
    for signal in TERM TRAP RTMIN+3; do
        status=0
        setsid --wait quipu record $options -o run.rec -- bash -c "ulimit -c 0; echo before; kill -$signal 0; echo after" \
            >recorded.out 2>recorded.err || status=$?
        [[ $status -eq $((128 + $(kill -l $signal))) && ! -s recorded.err ]] ||
            fail "$signal to the group, $options: exit status $status: $(head -3 recorded.err)"
        replays $status
        cmp recorded.out replayed.out || fail "$signal to the group, $options: the replay differs"
    done
done
starts
kill -TERM $recorder
has_ended 143
plays 1

# With --keep-running the program goes on when its recorder is killed, on all its processors, with its own instructions.
cat >reads.c <<'END'
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#include <x86intrin.h>
int main(void) {
    cpu_set_t set;
    for (int i = 0; i < 60; i++) {
        int reads = i < 10 || i > 55; /* not while the recorder is killed */
        unsigned long long before = reads ? __rdtsc() : 0;
        usleep(10000);
        printf("%d %d\n", i, reads && __rdtsc() > before);
        fflush(stdout);
    }
    sched_getaffinity(0, sizeof set, &set);
    printf("%d processors\n", CPU_COUNT(&set));
    return 5;
}
END
gcc -D_GNU_SOURCE -O1 -o reads reads.c || fail "cannot build 'reads'"
./reads >plain.out
for program in ./reads ./last ./ticks; do
    rm -f recorded.out
    quipu record --keep-running -o run.rec -- $program >recorded.out 2>recorded.err &
    guard=$!
    awaits grep -q '^20 ' recorded.out
    kill -9 "$(pgrep -P $guard)"
    wait $guard
    [[ $? -eq 5 && $(<recorded.err) == *"the recorder has ended by signal 9; the program goes on" ]] ||
        fail "'$program' has not gone on: $(tail -2 recorded.out recorded.err)"
    [[ $program != ./reads ]] || cmp plain.out recorded.out || fail "'$program' goes on otherwise"
    plays 1
done
ends 5 quipu record --keep-running -o run.rec -- ./reads
mv output recorded.out
replays 5
cmp recorded.out replayed.out || fail "the replay with --keep-running differs"

ends 1 quipu record --keep-running --shuffle -o run.rec -- ./reads
[[ $(<messages) == *"exclude each other" ]] || fail "--keep-running with --shuffle: $(<messages)"

(
    ulimit -f 1010
    exec timeout 60 quipu record -o run.rec -- ./last >recorded.out 2>recorded.err
)
[[ $? -eq 5 && $(<recorded.err) == *"cannot write it: File too large"* ]] ||
    fail "a file that becomes too long: $(<recorded.err)"
replays 1
[[ $(<replayed.err) == *" was cut behind "* ]] || fail "the cut is not told: $(<replayed.err)"
