#!/bin/sh
# watch_stores.sh: begin and end around stores of every kind, in every kind of program; with UBSan,
# too; and where there is no room for the shadow.
. "$(dirname "$0")/common.sh.inc"
for kind in exe no-pie static static-pie; do
    link $kind stores -pthread -I"$root" -I"$root/src" "$here/watch_stores.c" -Wl,-u,quipu_watch_early
    readelf -SW stores | grep -q preinit_array || fail "$kind: nothing runs early"
    silent ./stores
    silent prlimit --as=2000000000 ./stores narrow
done
link_checked stores "$here/watch_stores.c"
silent ./stores
