#!/bin/sh
# fork.sh: a child has a file of its own, from any thread, in handlers, with shared objects.
. "$(dirname "$0")/common.sh.inc"

for kind in exe static-pie; do
    link $kind program "$here/program.c"
    rm -rf quipu.data
    silent ./program fork
    expect program "slots=128 owned=2 threads=2 cells 2 1 1100 0 1" quipu.data "$kind, fork"
    parent=$(sed -n 's/.*cells 2 1 1000 0 0$/yes/p' shown)
    test "$parent" = yes || fail "$kind: the parent's counts are not its own: $(cat shown)"
    pid=$(sed -n 's/^file .*pid=\([0-9]*\) parent=.*/\1/p' shown | sort -n | head -n1)
    grep -q "parent=$pid " shown || fail "$kind: the child's parent is not told"

    rm -rf quipu.data
    silent ./program fork-in-threads
    test "$(ls quipu.data | wc -l)" = 101 || fail "$kind: $(ls quipu.data | wc -l) files, not 101"
    expect program "cells 2 1 1700 20 100" quipu.data "$kind, fork in threads"

    rm -rf quipu.data
    silent ./program fork-deep 5
    expect program "cells 2 1 81 15 5" quipu.data "$kind, fork in children"

    rm -rf quipu.data
    silent ./program fork-in-handler
    expect program "cells 2 1 2 0 0" quipu.data "$kind, fork in a handler"
    test "$(grep -c ' cells . . 1 0 0$' shown)" = 2 || fail "$kind: child's count: $(cat shown)"

    rm -rf quipu.data
    silent ./program vfork
    test "$(ls quipu.data | wc -l)" = 1 || fail "$kind: vfork made a file"
    expect program "owned=1 threads=1 cells 2 1 5 0 1" quipu.data "$kind, vfork"
done

# Slots of many pages, one or a few in a chunk.
link exe program "$here/program.c" -DPADDING
zeros="0 0 0 0 0 0 0 0 0 0 0"
rm -rf quipu.data
silent ./program fork-in-threads
expect program "cells 2 1 1700 20 100 $zeros" quipu.data "large slots, fork in threads"
rm -rf quipu.data
silent ./program fork-deep 5
expect program "cells 2 1 81 15 5 $zeros" quipu.data "large slots, fork in children"
rm -rf quipu.data
silent ./program fork-in-handler
expect program "cells 2 1 2 0 0 $zeros" quipu.data "large slots, fork in a handler"

# Another process image that had the same number.
rm -rf quipu.data
link exe program "$here/program.c"
if unshare -pf true 2>/dev/null; then
    silent unshare -pf ./program once
    silent unshare -pf ./program once
    test "$(echo quipu.data/*)" = "quipu.data/program.1.2.quipu quipu.data/program.1.quipu" ||
        fail "the same number: $(ls quipu.data)"
    expect program "cells 4 2 2000 0 0" quipu.data "the same number"
fi
exit 0
