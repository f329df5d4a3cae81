#!/bin/bash
# What signal handlers are told of the instruction that they interrupted (test/full/signals).  Timers
# run against the clock while the program is stepped: on a busy machine signals come in numbers that
# the oracle does not follow, so this is no test of 'make check'.
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/../harness/events" "$here/signals/signals.c"
