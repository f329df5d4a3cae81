#!/bin/bash
# CPython as a whole, at -O3, without optimization by profile or at link time: no function is left
# alone, and its own test suite passes instrumented as it passes plain: what fails is run again by
# itself, and must fail plain, too, in the same cases.  Left out are the tests of sockets of virtual
# machines, which wait for ever in some, and the one that builds CPython once more.  A test with an
# empty environment leaves its data in the working directory: the suite tells that as a changed
# environment, and not as a failure.
# timeout: 10800
. "$(dirname "$0")/lib.bash"
fetch python3.11
# A patch of Debian's wants what setup.py does not define; Debian builds this module otherwise.
step sed -i "s/Extension('pyexpat', sources=\['pyexpat.c'\]/&, extra_compile_args=['-DPy_BUILD_CORE_MODULE']/" \
    python3.11/setup.py
cp -a python3.11 plain

# build DIRECTORY CC CXX
build() {
    cd "$top/$1" || exit 1
    step ./configure CC="$2" CXX="$3" OPT='-O3 -g -DNDEBUG -fwrapv -Wall'
    step make -j2
    cd "$top" || exit 1
}

# suite DIRECTORY ARGS...: runs tests; a suite that is started with the interrupt ignored fails.
suite() {
    local directory=$1
    shift
    (cd "$top/$directory" &&
        env --default-signal=INT ./python -m test --timeout 1800 -i '*VSOCK*' -i '*test_freeze*' "$@") \
        >"$top/suite.log" 2>&1 </dev/null
}

# failures: the tests that failed, by suite.log.
failures() {
    sed -n '/^[0-9]* tests\? failed:$/,/^$/p' "$top/suite.log" | grep -o 'test_[a-z0-9_]*'
}

# cases: the single ones that failed, by suite.log of a verbose run.
cases() {
    sed -n 's/^\(FAIL\|ERROR\): //p' "$top/suite.log" | sort -u
}

build plain gcc g++
build python3.11 quipu-cc quipu-c++
instrumented python3.11/python 5000
left=$(quipu info --format=json python3.11/python |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["binaries"][0]["left_alone"])')
[[ -z $left ]] || fail "functions are left alone: $left"

# Each process leaves a file; they are not all kept.
mkdir "$data" && chmod 1777 "$data" || fail "no directory for data"
(while sleep 20; do find "$data" -name '*.quipu' -mmin +1 -delete; done) &
keeper=$!
trap 'kill $keeper 2>/dev/null' EXIT
QUIPU_DATA=$data suite python3.11 -j2
passed=$(sed -n 's/^\([0-9]*\) tests OK\.$/\1/p' "$top/suite.log")
[[ ${passed:-0} -ge 350 ]] || fail "only ${passed:-0} tests passed: $(tail -n 60 "$top/suite.log")"
for name in $(failures); do
    QUIPU_DATA=$data suite python3.11 -v "$name" && continue
    cases >ours.failed
    cp suite.log ours.log
    suite plain -v "$name"
    cases >plain.failed
    [[ -s ours.failed && -z $(comm -23 ours.failed plain.failed) ]] ||
        fail "'$name' fails instrumented only: $(comm -23 ours.failed plain.failed) $(tail -n 60 ours.log)"
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
