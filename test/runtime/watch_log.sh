#!/bin/sh
# watch_log.sh: what a program tells in the watch file, in every kind of program; and that it takes
# no file for one that is none.
. "$(dirname "$0")/common.sh.inc"
for kind in exe no-pie static static-pie; do
    link $kind log -pthread -I"$root" -I"$root/src" "$here/watch_log.c" -Wl,-u,quipu_watch_early
    silent ./log
done
: >empty
head -c 100000 /dev/urandom >noise
for name in empty noise /no/such/file "$work" ""; do
    QUIPU_WATCH=$name silent ./log plain
done
