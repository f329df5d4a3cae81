#!/bin/bash
# The same input gives the same bytes: two builds of one source are equal, object by object.
. "$(dirname "$0")/../bad/lib.bash"
for source in "$(dirname "$0")"/../exact/{options.c,options_cxx.cc,jump_table.c,assembly.S}; do
    compiler='quipu-cc'
    [[ $source == *.cc ]] && compiler='quipu-c++'
    for n in 1 2; do
        mkdir -p "$n"
        ends 0 $compiler -O2 -g -c "$source" -o "$n/$(basename "$source").o"
    done
    cmp "1/$(basename "$source").o" "2/$(basename "$source").o" || fail "'$source': two builds differ"
done
