#!/bin/bash
# bzip2: make, its own tests, and the shared object by its other makefile.
. "$(dirname "$0")/lib.bash"
fetch bzip2
cd bzip2 || exit 1
step make CC=quipu-cc CFLAGS='-O2 -g -Wall -D_FILE_OFFSET_BITS=64' bzip2 bzip2recover libbz2.a
instrumented bzip2 20
instrumented libbz2.so.1.0.4 40
test_with make CC=quipu-cc CFLAGS='-O2 -g -Wall -D_FILE_OFFSET_BITS=64' test
for n in 1 2 3; do
    cmp "sample$n.bz2" "sample$n.rb2" && cmp "sample$n.tst" "sample$n.ref" || fail "sample $n differs"
done
counted BZ2_compressBlock
step make -f Makefile-libbz2_so clean
step make -f Makefile-libbz2_so CC=quipu-cc
./bzip2-shared -d <sample1.bz2 | cmp - sample1.ref || fail "the shared build differs"
