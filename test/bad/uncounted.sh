#!/bin/bash
# A report of processes with counts and processes without: one warning says that the totals are not of all.
. "$(dirname "$0")/lib.bash"
echo 'int main(void) { return 0; }' >program.c
ends 0 quipu-cc --quipu=count program.c -o counted
ends 0 quipu-cc --quipu=calls program.c -o called
for program in counted called called; do
    ends 0 ./$program
done
ends 0 quipu report quipu.data
[[ $(grep -c warning messages) -eq 1 ]] || fail "$(cat messages)"
grep -q "'quipu.data/called.*' and 1 more: no counts of functions .*; the totals leave them out" messages ||
    fail "$(cat messages)"
ends 0 quipu report --by=callsite quipu.data # has them all
[[ ! -s messages ]] || fail "$(cat messages)"
ends 0 quipu report quipu.data/called*
[[ ! -s messages ]] || fail "$(cat messages)"
