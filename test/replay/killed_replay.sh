#!/bin/bash
# kill -9 of a player: nothing of the recorded program is left, also where it has only just begun, and is about to
# execute the program.
. "$(dirname "$0")/lib.bash"
cat >endless.c <<'END_OF_PROGRAM'
#include <stdio.h>
#include <unistd.h>
int main(void) {
    while (usleep(1000) == 0 && puts("on") > 0)
        ;
    return 1;
}
END_OF_PROGRAM
gcc -O1 -o endless endless.c || fail "cannot build 'endless'"
timeout -s KILL 1 quipu record -o run.rec -- "$PWD/endless" >recorded.out 2>recorded.err

# nothing_left: no process has a name of this directory.
nothing_left() {
    [[ -z $(pgrep -f "$PWD/") ]]
}
for ((i = 0; i < 60; i++)); do
    case $((i % 3)) in
    0) command=(replay --check) ;;
    1) command=(replay --port=0) ;;
    2) command=(record -o other.rec -- "$PWD/endless") ;;
    esac
    [[ ${command[0]} == record ]] || command+=("$PWD/run.rec")
    quipu "${command[@]}" >output 2>messages &
    sleep "0.0$((RANDOM % 4))$((RANDOM % 10))"
    kill -9 $!
    wait $! 2>/dev/null
    # one that is left runs, or stands, for ever
    awaits nothing_left
done
