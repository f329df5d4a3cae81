#!/bin/bash
# A program that maps the code of others, reads it and executes it in its own way: nothing is replaced there.
# timeout: 60
. "$(dirname "$0")/lib.bash"
make_plain reads_code reads_code.c -O1 -static
loader=/lib64/ld-linux-x86-64.so.2 # it reads the counter
repeats 0 ./reads_code $loader
grep -q 'the same' recorded.out || fail "the code that it reads is not that of the file: $(<recorded.out)"
if command -v valgrind >/dev/null; then
    repeats 0 valgrind echo hello
    grep -q hello replayed.out && grep -q 'no leaks\|ERROR SUMMARY' replayed.err ||
        fail "valgrind: $(head -3 replayed.err)"
fi
