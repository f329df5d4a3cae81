#!/bin/sh
# watch_regions.sh: the table of regions against a plain list, with threads; its memory; all of it
# with UBSan, too.  (ASan's own shadow lies where the shadow of stores does.)
. "$(dirname "$0")/common.sh.inc"
link exe regions -pthread -I"$root" -I"$root/src" "$here/watch_regions.c"
silent ./regions
silent ./regions many quick
link_checked regions "$here/watch_regions.c"
silent ./regions
