#!/bin/bash
# CPython as a whole, at -O3, without optimization by profile or at link time: no function is left
# alone, and its own test suite passes instrumented as it passes plain: what fails is run again by
# itself, and must fail plain, too.  What waits for the clock most of the time, or needs a network, is
# left out.
# timeout: 7200
. "$(dirname "$0")/lib.bash"
fetch python3.11
cp -a python3.11 plain
left_out=(test_multiprocessing_spawn test_multiprocessing_fork test_multiprocessing_forkserver
    test_concurrent_futures test_ssl test_gdb test_socket test_asyncio test_distutils test_venv
    test_ensurepip test_tools test_peg_generator)

# build DIRECTORY COMPILER
build() {
    cd "$top/$1" || exit 1
    step ./configure CC="$2" OPT='-O3 -g -DNDEBUG -fwrapv -Wall'
    step make -j2
    cd "$top" || exit 1
}

# suite DIRECTORY ARGS...: runs tests; a suite that is started with the interrupt ignored fails.
suite() {
    local directory=$1
    shift
    (cd "$top/$directory" && env --default-signal=INT ./python -m test --timeout 900 "$@") \
        >"$top/suite.log" 2>&1 </dev/null
}

# failures: the tests that failed, by suite.log.
failures() {
    sed -n '/^[0-9]* tests\? failed:$/,/^$/p' "$top/suite.log" | grep -o 'test_[a-z0-9_]*'
}

build plain gcc
build python3.11 quipu-cc
instrumented python3.11/python 5000
left=$(quipu info --format=json python3.11/python |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["binaries"][0]["left_alone"])')
[[ -z $left ]] || fail "functions are left alone: $left"

# Each process leaves a file; they are not all kept.
mkdir -p "$data"
(while sleep 20; do find "$data" -name '*.quipu' -mmin +1 -delete; done) &
keeper=$!
trap 'kill $keeper 2>/dev/null' EXIT
QUIPU_DATA=$data suite python3.11 -j2 -x "${left_out[@]}"
passed=$(sed -n 's/^\([0-9]*\) tests OK\.$/\1/p' "$top/suite.log")
[[ ${passed:-0} -ge 350 ]] || fail "only ${passed:-0} tests passed: $(tail -n 60 "$top/suite.log")"
for name in $(failures); do
    QUIPU_DATA=$data suite python3.11 "$name" && continue
    cp "$top/suite.log" "$top/ours.log"
    suite plain "$name" && fail "'$name' fails instrumented only: $(tail -n 60 "$top/ours.log")"
done
kill $keeper
trap - EXIT

# Counts of one run, by functions whose calls the script tells.
rm -rf "$data"
mkdir "$data"
QUIPU_DATA=$data python3.11/python -I -S -c '
import sys
for i in range(12345):
    sys.intern("x")' || fail "the script fails"
got=$(quipu report --format=json "$data" | python3 -c "
import json, sys
print(sum(f['calls'] for f in json.load(sys.stdin)['functions'] if f['name'] == 'sys_intern'))")
[[ $got -eq 12345 ]] || fail "'sys_intern' was called 12345 times, not $got"
