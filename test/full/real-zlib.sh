#!/bin/bash
# zlib: configure, make, its own tests: static, shared, 64-bit offsets.
. "$(dirname "$0")/lib.bash"
fetch zlib
cd zlib || exit 1
CC=quipu-cc CFLAGS='-O3 -g' step ./configure
step make -j2
instrumented libz.so.1.2.13 100
test_with make test
grep -q '\*\*\* zlib test OK \*\*\*' "$top/step.log" && grep -q 'zlib shared test OK' "$top/step.log" ||
    fail "the tests did not all run: $(cat "$top/step.log")"
counted deflate
