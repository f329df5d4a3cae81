#!/bin/sh
# watch_calls.sh: what known and unknown callees write; with UBSan, too.
. "$(dirname "$0")/common.sh.inc"
for kind in exe no-pie static static-pie; do
    link $kind calls -fno-builtin -I"$root" -I"$root/src" "$here/watch_calls.c" -Wl,-u,quipu_watch_early
    silent ./calls
done
link_checked calls "$here/watch_calls.c"
silent ./calls
