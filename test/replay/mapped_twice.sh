#!/bin/bash
# Signals come in where they came in code that a process has mapped as shared memory and cannot write there:
# no tracer can write to it, either.
. "$(dirname "$0")/lib.bash"
make_plain mapped_twice mapped_twice.c -O1
repeats 7 ./mapped_twice
[[ $(sort -u recorded.out | grep -c '^[1-9a-f]') -ge 2 ]] || fail "the signals have not come in the loop"
