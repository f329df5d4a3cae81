#!/bin/bash
# The tool built with ASan and UBSan passes the tests of bad input, builds programs of every kind and
# reads their data: no report, whatever it is given.
# timeout: 900
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
asan=$(realpath -m "${QUIPU_BUILD:-build}")/asan
flags='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
make -s B="$asan" CFLAGS="$flags" all "${asan#"$PWD/"}/test/step" >"$TMPDIR/made" 2>&1 || {
    cat "$TMPDIR/made"
    exit 1
}
# An error ends the program with what it had allocated: that is no leak.  One test puts an object of
# its own in front.
export ASAN_OPTIONS=exitcode=99:detect_leaks=0:verify_asan_link_order=0 UBSAN_OPTIONS=print_stacktrace=1
export BUILD_FLAGS=$flags # for what is linked with our objects
# These let the readers that the others have tried read long traces, which takes minutes here.
long=$(printf 'export/%s\n' cache_parts cache_parts_processors trace_jobs trace_moments trace_parts \
    trace_process trace_unrolled trace_windows)
mapfile -t exports < <(test/run --list export | grep -vxF "$long")
QUIPU_BUILD=$asan exec test/run -j 1 bad "${exports[@]}" exact/cold_exceptions exact/computed_goto \
    exact/jump_table_shared exact/inline_asm exact/assembly exact/comdat exact/fork exact/dlopen
