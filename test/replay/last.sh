#!/bin/bash
# quipu record --last keeps the end of a run, which plays as it was: output, registers and memory (parts/memory.c).
# timeout: 200
. "$(dirname "$0")/lib.bash"
needs gdb
make_plain last last.c -O1 -g -pthread
make_plain memory.so memory.c -O1 -shared -fPIC

# keeps STATUS COMMAND...: of the recorded run the end is kept, and its replay ends as the run did.
keeps() {
    local status=$1 stream lines
    shift
    ends "$status" quipu record --last=0.2 -o run.rec -- "$@"
    cp output recorded.out
    cp messages recorded.err
    quipu info run.rec >text || fail "cannot tell of it"
    grep -q '^  begins  *in the middle of the run, 20' text || fail "'$*': all of it is kept: $(<text)"
    replays "$status"
    for stream in out err; do
        lines=$(wc -l <replayed.$stream)
        tail -n "$lines" recorded.$stream | cmp - replayed.$stream || fail "'$*': the replay differs"
    done
    lines=$(wc -l <replayed.out)
    [[ $lines -gt 3 && $lines -lt $(wc -l <recorded.out) ]] || fail "'$*': $lines lines are kept"
}

keeps 5 env LD_PRELOAD="$PWD/memory.so" ./last
[[ $(grep -c '^look' replayed.err) -ge 5 ]] || fail "the oracle has not looked at the replay"
grep -q '^    1/1 .*with status 3' text || fail "no child in: $(<text)"
keeps 0 ./last alone

# A program that crashes, whose file is gone.
cat >crashes.c <<'END'
#include <stdio.h>
#include <unistd.h>
static volatile int rounds, *nowhere;
int main(void) {
    for (; rounds < 180; rounds++) {
        printf("%d\n", rounds);
        fflush(stdout);
        usleep(3000);
    }
    return *nowhere;
}
END
gcc -g -O1 -o crashes crashes.c || fail "cannot build 'crashes'"
ulimit -c 0
keeps 4 dash -c './crashes & exit 4' # the first process has ended in front of the image
grep -q "^  program .*/dash$" text || fail "another program: $(<text)"
grep -q "^    1/1 .*crashes, 1 thread, .* by signal 11" text || fail "the other process: $(<text)"
keeps 139 ./crashes
cat >commands <<'END'
continue
print rounds
watch rounds
reverse-continue
reverse-continue
END
printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
chmod +x gdb-batch
timeout 100 quipu replay --gdb=./gdb-batch run.rec </dev/null >output 2>&1 || fail "gdb: $(tail -3 output)"
for wanted in SIGSEGV '$1 = 180' 'Old value = 180' 'New value = 178'; do
    [[ $(<output) == *"$wanted"* ]] || fail "gdb does not say '$wanted': $(<output)"
done
rm crashes
replays 139
tail -n "$(wc -l <replayed.out)" recorded.out | cmp - replayed.out || fail "the replay needs the program's file"

# What is recorded up to now is kept by another command, and the run goes on.
quipu record --last=0.2 -o run.rec -- ./last >recorded.out &
recorder=$!
awaits grep -q '^20 ' recorded.out
ends 0 quipu record --keep=$recorder -o kept.rec
ends 0 quipu record --keep="$(pgrep -P $recorder -x last)" -o kept.rec
ends 1 quipu record --keep $recorder -o run.rec
[[ $(<messages) == *"it is the recording itself"* ]] || fail "the recording is overwritten: $(<messages)"
ends 1 quipu record --keep=$$ -o other.rec
[[ $(<messages) == *"is not being recorded"* ]] || fail "a process that is not recorded: $(<messages)"
wait $recorder
[[ $? -eq 5 ]] || fail "the recorded program has not gone on"
quipu info kept.rec >text || fail "cannot tell of what was kept"
grep -q "kept up to here" text || fail "what was kept does not say so: $(<text)"
ends 1 quipu replay --check kept.rec
[[ $(<messages) == *"while the program went on: it was kept"* ]] || fail "what was kept: $(<messages)"
first=$(grep -nxF -m 1 "$(head -1 output)" recorded.out | cut -d: -f 1)
tail -n +"$first" recorded.out | head -n "$(wc -l <output)" | cmp - output || fail "what was kept differs"

ends 1 quipu record --last=soon -o run.rec -- ./last
[[ $(<messages) == *"--last='soon'"* ]] || fail "a time that is none: $(<messages)"
