#!/bin/bash
# A recording that was cut plays to the cut, and says so: the recorder was killed, or the end of the file is
# missing.  The end of the program by kill -9 is recorded.
# timeout: 300
. "$(dirname "$0")/lib.bash"
cat >counts.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 1000000; i++) {
        printf("%d\n", i);
        fflush(stdout);
        if (i > 3000)
            usleep(2000);
    }
}
END
gcc -O1 -o counts counts.c || fail "cannot build 'counts'"

# starts: the program is recorded in the background, and has written 3000 lines.
starts() {
    rm -f run.rec recorded.out
    quipu record -o run.rec -- ./counts >recorded.out 2>recorded.err &
    recorder=$!
    awaits grep -q '^3005$' recorded.out
    program=$(pgrep -P $recorder)
}

starts
kill -9 "$program"
wait $recorder 2>/dev/null
[[ $? -eq 137 ]] || fail "the recorder has not ended as the program"
replays 137 2>/dev/null
cmp recorded.out replayed.out || fail "not all that the killed program did is in the replay"

starts
kill -9 $recorder
wait $recorder 2>/dev/null
awaits eval '! kill -0 "$program" 2>/dev/null'
replays 1
[[ $(<replayed.err) == *"was cut behind"* ]] || fail "the cut is not told: $(<replayed.err)"
cmp -n "$(stat -c %s replayed.out)" recorded.out replayed.out || fail "the cut replay differs"
lost=$(($(stat -c %s recorded.out) - $(stat -c %s replayed.out)))
[[ $lost -le 10 ]] || fail "$lost bytes of output are lost"

# Shorter files: each plays to its end.
cp run.rec whole.rec
size=$(stat -c %s whole.rec)
for ((i = 1; i <= 12; i++)); do
    head -c $((size - size * i / 13)) whole.rec >run.rec
    replays 1
    [[ $(grep -c . replayed.err) -eq 1 && $(<replayed.err) == *" was cut "* ]] ||
        fail "a part of the file: $(head -3 replayed.err)"
    [[ ! -s replayed.out ]] || cmp -n "$(stat -c %s replayed.out)" recorded.out replayed.out ||
        fail "a part of the file plays something else"
done
