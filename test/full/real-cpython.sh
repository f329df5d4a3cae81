#!/bin/bash
# CPython as a whole, in every mode but watch: each case of its own test suite ends as it ends plain, no
# function is left alone, and the counts of a script's calls are right.
# timeout: 14400
. "$(dirname "$0")/cpython.bash"
passes_as_plain count,event,moment,calls

counted=instrumented/python
instrumented $counted 5000
left=$(quipu info --format=json $counted |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["binaries"][0]["left_alone"])')
[[ -z $left ]] || fail "functions are left alone: $left"

# Counts of one run, by functions whose calls the script tells.
rm -rf "$data"
mkdir "$data"
QUIPU_DATA=$data $counted -I -S -c '
import sys
for i in range(12345):
    sys.intern("x")' || fail "the script fails"
got=$(quipu report --format=json "$data" | python3 -c "
import json, sys
print(sum(f['calls'] for f in json.load(sys.stdin)['functions'] if f['name'] == 'sys_intern'))")
[[ $got -eq 12345 ]] || fail "'sys_intern' was called 12345 times, not $got"
