#!/bin/bash
# In a program with ticks, signals come in where it makes no system call, and threads wait for each other
# in loops without one: parts/ticks.c.  The oracle of memory.sh hashes all registers and memory.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_plain memory.so memory.c -O1 -shared -fPIC
for level in 0 2; do
    make_program "ticks$level" --quipu=moment -O$level -pthread <"$here/parts/ticks.c"
    repeats 0 env LD_PRELOAD="$PWD/memory.so" "./ticks$level" 400
    [[ $(grep -c '^look' replayed.err) -ge 5 ]] || fail "the oracle has not looked"
    cp recorded.out first.out
    repeats 0 "./ticks$level" 400
    ! cmp -s first.out recorded.out || fail "two runs have their signals at the same places"
    repeats 0 "./ticks$level" forks
    repeats 0 "./ticks$level" threads
    cp recorded.out first.out
    repeats 0 "./ticks$level" threads
    ! cmp -s first.out recorded.out || fail "two runs have the same race"
done

