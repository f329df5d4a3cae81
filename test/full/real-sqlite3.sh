#!/bin/bash
# SQLite: configure, make, the shell, and its veryquick tests, some two hundred thousand.
# timeout: 7200
. "$(dirname "$0")/lib.bash"
fetch sqlite3
cd sqlite3 || exit 1
CC=quipu-cc CFLAGS='-O2 -g' step ./configure --disable-readline
step make -j2 sqlite3 testfixture
instrumented .libs/libsqlite3.so.0.8.6 1400
instrumented testfixture 2500
mkdir -p "$data"
QUIPU_DATA=$data ./testfixture test/veryquick.test >"$top/veryquick.log" 2>&1
grep -qE '^0 errors out of [0-9]{5,} tests' "$top/veryquick.log" ||
    fail "veryquick: $(grep -E '^!|errors out of|Failures' "$top/veryquick.log" | tail -n 40)"
