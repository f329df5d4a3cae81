# lib.bash: what the tests with real programs share.  Sources come from Debian's archive, once for a
# build directory; the programs are built by their own build systems, in the test's own directory,
# and their own test suites must pass instrumented.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sources=${QUIPU_BUILD:?}/sources
unset QUIPU_STRICT
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL TESTS # of our own make: TESTS is automake's, too
top=$PWD
data=$PWD/data
export QUIPU_DATA=$PWD/data-of-configure
mkdir -p "$QUIPU_DATA"

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

# fetch PACKAGE...: puts the sources into ./PACKAGE.
fetch() {
    local package
    for package; do
        "$root/scripts/fetch-source" "$sources" "$package" >fetch.log 2>&1 ||
            fail "the source of '$package' cannot be fetched: $(cat fetch.log)"
        cp -a "$sources/$package" "$package"
    done
}

# step COMMAND...: must succeed; shows the end of what it said where it does not.  All that builds
# say is kept in build.log.
step() {
    "$@" >"$top/step.log" 2>&1 </dev/null || fail "'$*' failed: $(tail -n 60 "$top/step.log")"
    cat "$top/step.log" >>"$top/build.log"
}

# keep_few_data: from here on, to the end of the test, the data files in data-* go a minute after they
# were last written to: a suite of many thousand processes would fill the disk.
keep_few_data() {
    (while sleep 20; do find "$top"/data-* -name '*.quipu' -mmin +1 -delete; done) >"$top/keeper.log" 2>&1 &
    keeper=$!
    trap 'kill "$keeper"' EXIT
}

# test_with COMMAND...: runs the program's test suite; its data go to $data.
test_with() {
    mkdir -p "$data"
    QUIPU_DATA=$data step "$@"
}

# instrumented BINARY COUNT: at least COUNT functions of BINARY are counted, and of a hundred
# functions at most one is left alone.
instrumented() {
    quipu info --format=json "$1" | python3 -c "
import json, sys
binary = json.load(sys.stdin)['binaries'][0]
left, functions = len(binary['left_alone']), binary['functions']
if functions < $2 or 100 * left > functions:
    sys.exit(f'{functions} functions are counted, {left} left alone: {binary[\"left_alone\"][:20]}')
" || fail "'$1': too little is instrumented"
    if grep -m 3 'internal error' "$top/build.log"; then
        fail "the shim failed on a file, see above"
    fi
}

# all_units BINARY COUNT: at least COUNT units of BINARY are instrumented, in whatever mode, and the
# shim failed on none.
all_units() {
    local got
    got=$(quipu info --format=json "$1" | python3 -c "
import json, sys
print(len(json.load(sys.stdin)['binaries'][0]['units']))") || fail "'$1': no 'quipu info'"
    [[ $got -ge $2 ]] || fail "'$1': only $got units are instrumented"
    if grep -m 3 'internal error' "$top/build.log"; then
        fail "the shim failed on a file, see above"
    fi
}

# counted FUNCTION: by the data, FUNCTION was called.
counted() {
    local got
    got=$(quipu report --format=json "$data" 2>report.log | python3 -c "
import json, sys
print(sum(f['calls'] for f in json.load(sys.stdin)['functions'] if f['name'] == '$1'))") ||
        fail "no report: $(tail -n 3 report.log)"
    [[ $got -gt 0 ]] || fail "'$1' was never called, by the report"
}
