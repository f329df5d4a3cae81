#!/bin/bash
# A program that asks cpuid on each of its processors is told the same in a replay.
. "$(dirname "$0")/lib.bash"
make_plain on_each on_each.c -O1
repeats 3 ./on_each
[[ $(nproc) -eq 1 || $(cut -d' ' -f2 recorded.out | sort -u | wc -l) -ge 2 ]] || fail "it has not gone to another processor"
