#!/bin/bash
# RE2, in C++ with threads: its own makefile and tests, static.
# timeout: 5400
. "$(dirname "$0")/lib.bash"
fetch re2
cd re2 || exit 1
step make -j2 CXX=quipu-c++ CXXFLAGS='-O2 -g -Wall -std=c++11' obj/libre2.a static-test
instrumented obj/test/re2_test 500
counted _ZN3re23RE24InitENS_11StringPieceERKNS0_7OptionsE
