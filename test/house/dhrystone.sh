#!/bin/bash
# The kernel dhrystone executes the published mix of statements, operators and operands, by quipu's
# own counts.
exec "$(dirname "$0")/../../bench/mix" --check
