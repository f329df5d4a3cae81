#!/bin/bash
# The kernel dhrystone executes the published mix of statements, operators and operands, by quipu's
# own counts.
. "$(dirname "$0")/../needs.sh.inc"
needs clang
exec "$(dirname "$0")/../../bench/mix" --check
