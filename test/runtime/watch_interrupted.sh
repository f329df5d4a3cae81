#!/bin/sh
# watch_interrupted.sh: signal handlers make and delete regions where the code does that they
# interrupt.
. "$(dirname "$0")/common.sh.inc"
link exe interrupted -pthread -I"$root" -I"$root/src" "$here/watch_interrupted.c"
silent ./interrupted
