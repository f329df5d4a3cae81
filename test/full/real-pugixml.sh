#!/bin/bash
# pugixml, in C++: its own makefile and tests, among them exceptions thrown by failing allocations.
# timeout: 3600
. "$(dirname "$0")/lib.bash"
fetch pugixml
cd pugixml || exit 1
mkdir -p "$data"
for config in release debug; do
    test_with make -j2 test CXX=quipu-c++ config=$config
    grep -qE 'Success: [0-9]{3,} tests passed' "$top/step.log" || fail "$(tail -n 5 "$top/step.log")"
done
instrumented "$(find build -name test -type f | head -n 1)" 2000
