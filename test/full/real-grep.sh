#!/bin/bash
# GNU grep: configure, make, make check, with gnulib's own tests.
# timeout: 5400
. "$(dirname "$0")/lib.bash"
fetch grep
cd grep || exit 1
CC=quipu-cc CFLAGS='-O2 -g' step ./configure --disable-dependency-tracking
step make -j2
instrumented src/grep 300
test_with make check
if grep -E '^# (FAIL|XPASS|ERROR): +[1-9]' "$top/step.log"; then
    fail "make check: $(grep -E '^(FAIL|ERROR|XPASS)' "$top/step.log")"
fi
grep -qE '^# PASS: +[0-9]{2,}' "$top/step.log" || fail "make check ran nothing"
