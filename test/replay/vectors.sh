#!/bin/bash
# Backwards to places in the loader where what it has saved of the vectors depends on the way: see
# parts/vectors.py.
# timeout: 100
. "$(dirname "$0")/lib.bash"
needs python3
if ! grep -qw avx /proc/cpuinfo; then
    echo 'skipped: this processor has no avx'
    exit 77
fi
make_plain vectors vectors.c -O1 -no-pie -Wl,-z,lazy
records 0 ./vectors
between=$(nm vectors | sed -n 's/ . between$//p')
timeout 60 python3 "$here/parts/vectors.py" run.rec "$between" >went 2>&1 || fail "$(tail -3 went)"
