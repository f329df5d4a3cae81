#!/bin/bash
# Signals come in at the same places in a replay, with the same frames: see parts/signals.c.
# timeout: 300
. "$(dirname "$0")/lib.bash"
ulimit -c 0
make_plain signals signals.c -O2
for _ in 1 2 3; do
    repeats 139 ./signals 2>/dev/null
    grep -q 'signal 14' recorded.out || fail "no timer's signal came"
    grep -q 'signal 34, code -1, value 42' recorded.out || fail "no queued signal came"
done
repeats 134 ./signals abort 2>/dev/null
for mode in count moment; do
    make_program "by-$mode" --quipu=$mode -O1 <"$here/parts/signals.c"
    repeats 139 "./by-$mode" 2>/dev/null
done

# From outside: one with a handler, in a call that waits, and one that ends the program.
cat >waits.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void handle(int number) { printf("got %d\n", number); }
int main(void) {
    signal(SIGUSR1, handle);
    puts("begins");
    fflush(stdout);
    for (int i = 0; i < 3; i++)
        pause();
    fflush(stdout);
    pause();
}
END
gcc -O1 -o waits waits.c || fail "cannot build 'waits'"
quipu record -o run.rec -- ./waits >recorded.out 2>recorded.err &
recorder=$!
awaits grep -q begins recorded.out
program=$(pgrep -P $recorder)
for _ in 1 2 3; do
    awaits is_in "$program" S
    kill -USR1 "$program"
    sleep 0.1
done
awaits grep -q 'got 10' recorded.out
kill -TERM "$program"
wait $recorder 2>/dev/null
[[ $? -eq 143 ]] || fail "the recorder has not ended as the program"
replays 143 2>/dev/null
cmp recorded.out replayed.out || fail "'waits': the replay has another standard output"
[[ $(grep -c 'got 10' replayed.out) -eq 3 ]] || fail "not all signals are in the replay"
