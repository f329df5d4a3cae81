#!/bin/bash
# TinyXML-2, in C++: its own makefile and tests.
. "$(dirname "$0")/lib.bash"
fetch tinyxml2
cd tinyxml2 || exit 1
step make CXX=quipu-c++ CXXFLAGS='-O2 -g -fPIC' xmltest
instrumented xmltest 300
mkdir -p resources/out
test_with ./xmltest
grep -qE 'Pass [0-9]{3,}, Fail 0' "$top/step.log" || fail "$(tail -n 5 "$top/step.log")"
counted _ZN8tinyxml211XMLDocument5ParseEv
