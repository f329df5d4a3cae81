#!/bin/bash
# The reference BLAS, in Fortran, and its own tests of all three levels.
. "$(dirname "$0")/lib.bash"
fetch lapack
cd lapack || exit 1
sed 's/^FC *=.*/FC = quipu-fortran/; s/^CC *=.*/CC = quipu-cc/' make.inc.example >make.inc
step make -j2 blaslib
test_with make blas_testing
if grep -lE 'FAIL|\*\*\*\*\*\*\*.*FAILED' BLAS/TESTING/*.out BLAS/TESTING/*.SUMM 2>/dev/null; then
    fail "tests of the BLAS failed, see the files above"
fi
ls BLAS/TESTING/*.out >/dev/null 2>&1 || fail "the tests printed nothing"
instrumented BLAS/TESTING/xblat3d 15
counted dgemm_
