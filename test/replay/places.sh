#!/bin/bash
# Signals come in, and turns end, in code without ticks and system calls: see parts/places.c.  Registers and
# memory are there in the replay what they were, by the oracle of memory.sh, which the handler calls.
# timeout: 300
. "$(dirname "$0")/lib.bash"
# What the loader leaves below the stack pointer where it binds a function is not the same in two runs.
make_plain memory.so memory.c -O1 -shared -fPIC -Wl,-z,now
make_plain optimized places.c -O2 -pthread -Wl,-z,now
make_plain plain places.c -O0 -pthread -Wl,-z,now
loader=$(readelf -lW ./plain | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
for program in ./optimized ./plain; do
    repeats 7 "$loader" --preload "$PWD/memory.so" "$program"
    [[ $(grep -c '^look' replayed.err) -ge 10 ]] || fail "'$program': the oracle has not looked in each handler"
done
repeats 7 ./optimized threads
[[ $(quipu info --format=json run.rec) == *'"stopped"'* ]] && fail "it was not recorded to its end"
exit 0
