#!/bin/bash
# flex: configure, make (it generates its own scanner), make check: scanners that it generates are
# compiled instrumented too.
# timeout: 5400
. "$(dirname "$0")/lib.bash"
fetch flex
cd flex || exit 1
[[ -x configure ]] || step autoreconf -fi
CC=quipu-cc CXX=quipu-c++ CFLAGS='-O2 -g' CXXFLAGS='-O2 -g' step ./configure \
    --disable-dependency-tracking --disable-nls --disable-bootstrap
step make -j2
instrumented src/flex 100
test_with make check
if grep -E '^# (FAIL|XPASS|ERROR): +[1-9]' "$top/step.log"; then
    fail "make check: $(grep -E '^(FAIL|ERROR|XPASS)' "$top/step.log")"
fi
grep -qE '^# PASS: +[0-9]{2,}' "$top/step.log" || fail "make check ran nothing"
counted yylex
