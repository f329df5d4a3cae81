#!/bin/bash
# calls_run.sh: calls of programs that --quipu=calls counted.  Functions that call nothing outside of
# the program have the inclusive costs that valgrind's own callgrind tells of the same code without
# instrumentation (made with -fno-ipa-ra, as this mode makes it); exports and sums agree with the
# counts.
. "$(dirname "$0")/lib.bash"
needs valgrind callgrind_annotate python3

# "INSTRUCTIONS NAME" of each function whose callees are the program's own, all included.
inclusive() {
    callgrind_annotate --inclusive=yes --auto=no --threshold=100 "$1" 2>annotate.err |
        sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%)  [^ ]*calls\.cc:\(.*\) \[.*\]$/\1 \2/p' |
        awk '{ gsub(",", "", $1); print }' | grep -E "(look_up|scan|fibonacci|compare)\([^']*$" | sort
    [ ! -s annotate.err ] || fail "callgrind_annotate complains: $(cat annotate.err)"
}

for level in -O0 -O1 -O2; do
    for mode in calls count,calls; do
        "$quipu" cc -x c++ -g $level --quipu=$mode "$program/calls.cc" -lstdc++ -o calls
        "$quipu" cc -x c++ -g $level -fno-ipa-ra --quipu=none "$program/calls.cc" -lstdc++ -o twin
        rm -rf data
        QUIPU_DATA=data ./calls >/dev/null
        "$quipu" export --to=callgrind -o ours.out data
        valgrind --quiet --tool=callgrind --callgrind-out-file=theirs.out ./twin >/dev/null
        inclusive ours.out >ours.txt
        inclusive theirs.out >theirs.txt
        [ "$(wc -l <theirs.txt)" -ge 3 ] || fail "valgrind's profile lacks functions: $(cat theirs.txt)"
        cmp -s ours.txt theirs.txt ||
            fail "$mode $level: inclusive costs are not valgrind's: $(diff ours.txt theirs.txt)"
        total=$(sed -n 's/^totals: //p' ours.out)
        paths=$("$quipu" export --to=collapsed data | awk '{ sum += $NF } END { print sum }')
        [ "$total" = "$paths" ] || fail "$mode $level: paths add up to $paths, counts to $total"
        "$quipu" merge -o sum.quipu data data
        paths=$("$quipu" export --to=collapsed sum.quipu | awk '{ sum += $NF } END { print sum }')
        [ "$paths" = $((2 * total)) ] || fail "$mode $level: two runs add up to $paths, one has $total"
    done
done

# A program that runs, with threads.
cat >waits.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static void work(int turns) {
    for (volatile int i = 0; i < turns; i++)
        ;
}

static void *run(void *argument) {
    work(1000);
    pause();
    return argument;
}

int main(void) {
    pthread_t thread;
    work(2000);
    pthread_create(&thread, NULL, run, NULL);
    usleep(200000);
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}
END
"$quipu" cc -g -O1 -pthread --quipu=count,calls waits.c -o waits
mkfifo ready
QUIPU_DATA=running ./waits >ready &
process=$!
read -r _ <ready
while grep -qv S < <(cut -d' ' -f3 /proc/$process/task/*/stat); do # on their way to where they wait
    sleep 0.01
done
"$quipu" report --by=callsite --format=csv running >rows.csv || fail "a running process cannot be read"
kill -9 $process
wait $process 2>/dev/null || true
"$quipu" report --by=callsite --format=csv running >killed.csv
cmp -s rows.csv killed.csv || fail "kill -9 changed what was counted: $(diff rows.csv killed.csv)"
"$quipu" report --format=csv running >functions.csv
python3 - rows.csv functions.csv <<'END' || fail "calls of a running process: $(cat rows.csv)"
import csv, sys
calls = {(r["caller"], r["callee"]): r for r in csv.DictReader(open(sys.argv[1]))}
own = {r["name"]: int(r["instructions"]) for r in csv.DictReader(open(sys.argv[2]))}
inclusive = {key: int(row["instructions"]) for key, row in calls.items()}
assert inclusive["main", "work"] + inclusive["run", "work"] == own["work"], (inclusive, own)
assert inclusive["main", "work"] > 1.9 * inclusive["run", "work"] > 1000
assert inclusive["", "main"] - inclusive["main", "work"] == own["main"], (inclusive, own)
assert inclusive["", "run"] - inclusive["run", "work"] == own["run"], (inclusive, own)
END

# A header's function that was inlined, and only calls: callgrind_annotate, with sources, is content.
echo 'long far(long n);
static inline long near(long n) { return far(n) + far(n + 1); }' >near.h
echo '__attribute__((noipa)) long far(long n) { for (long i = 0; i < 9; i++) n ^= n * i + 3; return n; }' >far.c
echo '#include "near.h"
int main(int argc, char **argv) { (void)argv; return near(argc) == 12345; }' >near.c
"$quipu" cc --quipu=calls -O2 -g near.c far.c -o near
"$quipu" run -o near.data -- ./near
"$quipu" export --to=callgrind -o near.out near.data
callgrind_annotate --inclusive=yes near.out >near.txt 2>near.err || fail "$(cat near.err)"
[ ! -s near.err ] || fail "callgrind_annotate complains: $(cat near.err)"
grep -q 'far(n) + far(n + 1)' near.txt || fail "no line of the header: $(cat near.txt)"
