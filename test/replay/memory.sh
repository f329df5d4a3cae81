#!/bin/bash
# The registers and all memory that a program may write are in a replay what they were, at many moments of
# programs that nobody here wrote.  The oracle is parts/memory.c, inside of the program.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_plain memory.so memory.c -O1 -shared -fPIC
make_plain signals signals.c -O2
seq 1 20000 >numbers
echo 'scale=40; e(1)' >e
loader=$(readelf -lW "$(command -v bash)" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
looks=0

# watched STATUS PROGRAM ARGS...: the loader is the program that is recorded; it preloads the oracle.
watched() {
    local status=$1 program
    program=$(command -v "$2") || return 0
    shift 2
    repeats "$status" "$loader" --preload "$PWD/memory.so" "$program" "$@" 2>/dev/null
    looks=$((looks + $(grep -c '^look' replayed.err)))
}

watched 0 grep -c 7 numbers
watched 0 gzip -c numbers
watched 0 mawk '{ s += $1 } END { print s }' numbers
watched 3 dash -c 'for i in 1 2 3; do echo $i; read line <numbers; done; exit 3'
watched 0 perl -e 'my %h; $h{$_} = rand for 1..2000; print map { "$_ $h{$_}\n" } keys %h'
input=e watched 0 bc -l
watched 0 sqlite3 data 'create table t(a); insert into t values (random()); select * from t;'
watched 0 python3.11 -c 'import json; print(json.dumps(sorted(globals())), id(json))'
watched 139 ./signals
[[ $looks -ge 100 ]] || fail "the oracle has looked only $looks times"

# It sees a change: another run has other random numbers in its memory.
needs perl
watched 0 perl -e 'print rand'
cp recorded.err first.err
watched 0 perl -e 'print rand'
! cmp -s first.err recorded.err || fail "two runs have the same memory, so the oracle sees nothing"

# In processes and threads, too.
make_plain threads threads.c -O2 -pthread
make_plain shared shared.c -O2 -pthread
looks=0

# preloaded STATUS PROGRAM ARGS...: the oracle is in all that the program executes.
preloaded() {
    local status=$1
    shift
    repeats "$status" env LD_PRELOAD="$PWD/memory.so" "$@" 2>/dev/null
    looks=$((looks + $(grep -c '^look' replayed.err)))
}

preloaded 0 bash -c 'for i in {1..8}; do echo $i | sed s/1/x/ | cat; done; (exit 3); ls / | wc -l'
preloaded 6 ./threads
for kind in anonymous memfd file; do preloaded 4 ./shared $kind; done
[[ $looks -ge 100 ]] || fail "the oracle has looked only $looks times in processes and threads"
