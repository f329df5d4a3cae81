#!/bin/bash
# scripts/demo: all its steps run; a table with more buckets executes fewer instructions, and the memory
# of its words is what misses the first cache most, and misses it less.
# timeout: 120
. "$(dirname "$0")/lib.bash"
mkdir build
ln -s "$(dirname "$quipu")" build/bin
"$root/scripts/demo" "$PWD/build" >shown 2>&1 || fail "the demo ends with $?: $(tail -n 5 shown)"
for step in 1 2 3 4 5 6 7; do
    grep -q "^$step\. " shown || fail "step $step is not there: $(cat shown)"
done
grep -q 'error' shown && fail "the demo shows an error: $(grep error shown)"

# misses N: the number of row N of those that compare both tables
misses() {
    sed -n 's/^   heap block of arena.c:[0-9]* (add_chunk): \([0-9]*\) misses$/\1/p' shown | sed -n "$1p"
}
[[ $(misses 1) -gt $((3 * $(misses 2))) && $(misses 2) -gt 0 ]] ||
    fail "misses before and after: $(misses 1), $(misses 2): $(cat shown)"
for file in traced slow.trace fast.trace callgrind.out concord.info; do
    [[ -s build/demo/$file ]] || fail "'$file' is not there"
done
