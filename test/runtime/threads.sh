#!/bin/sh
# threads.sh: exact counts with many threads, bounded slots, signals, a kill, exec.
. "$(dirname "$0")/common.sh.inc"

for kind in exe static; do
    link $kind program "$here/program.c"
    rm -rf quipu.data
    silent ./program short-threads 2000
    # Fewer threads are counted than have lived where the kernel gave a number twice.
    expect program "cells 2 1 20000 2000 0" quipu.data "$kind, short-lived threads"
    owned=$(sed -n 's/^total program .*owned=\([0-9]*\).*/\1/p' shown)
    test "$owned" -le 32 || fail "$kind: $owned slots for 4 threads at a time"

    rm -rf quipu.data
    silent ./program living-threads
    expect program "slots=512 owned=301 threads=301 cells 2 1 3000000 300 0" quipu.data "$kind"

    rm -rf quipu.data
    times=$(./program signals) || fail "$kind: signals"
    expect program "cells 2 1 $times 0 0" quipu.data "$kind, signals"

    silent ./program registers

    rm -rf quipu.data
    sh -c './program kill; exit $?' 2>/dev/null
    test $? = 137 || fail "$kind: not killed"
    expect program "cells 2 1 12345 0 0" quipu.data "$kind, kill -9"

    rm -rf quipu.data
    silent ./program exec once
    test "$(ls quipu.data | wc -l)" = 2 || fail "$kind: exec made $(ls quipu.data)"
    expect program "cells 4 2 1003 0 0" quipu.data "$kind, exec"
done
silent ./program clean 3
exit 0
