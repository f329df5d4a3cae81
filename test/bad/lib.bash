# lib.bash: what the tests of this folder share.  The runner has put quipu in front of PATH and made
# a fresh working directory.
set -uo pipefail
unset QUIPU_DATA QUIPU_STRICT
. "$(dirname "${BASH_SOURCE[0]}")/../needs.sh.inc"
quipu=${QUIPU_BUILD:?}/bin/quipu

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

# make_program NAME ARGS...: builds NAME from standard input, instrumented, with no word said.
make_program() {
    local name=$1
    shift
    cat >"$name.c"
    quipu cc "$@" "$name.c" -o "$name" 2>messages || fail "cannot build '$name': $(cat messages)"
    [[ ! -s messages ]] || fail "building '$name' said: $(cat messages)"
}

# ends STATUS COMMAND...: the command ends so; what it says goes to the files output and messages.
ends() {
    local wanted=$1 status=0
    shift
    "$@" >output 2>messages || status=$?
    [[ $status -eq $wanted ]] || fail "'$*': exit status $status, not $wanted: $(cat messages)"
}

# awaits COMMAND...: waits until the command succeeds: a minute at most.
awaits() {
    local i
    for ((i = 0; i < 3000; i++)); do
        "$@" && return
        sleep 0.02
    done
    fail "waited for '$*' in vain"
}

# is_in PID STATES: all threads are in one of these states, as /proc shows them: 'S', 'RT'.
is_in() {
    [[ -e /proc/$1/status && -z $(grep -hs '^State:' /proc/"$1"/task/*/status | grep -v "^State:.[$2]") ]]
}

# runs PID PROGRAM: the process has become the program of this name.
runs() {
    [[ $(readlink "/proc/$1/exe") == */"$2" ]]
}

# is_there FILE: it is not empty.
is_there() {
    [[ -s $1 ]]
}

# said TEXT: standard error is one line that has TEXT in it.
said() {
    [[ $(wc -l <messages) -eq 1 ]] || fail "expected one line with '$1' but got: $(cat messages)"
    grep -qF -- "$1" messages || fail "expected '$1' but got: $(cat messages)"
}

# refuses TEXT... -- COMMAND...: exit status 1 and one error that has every TEXT in it.
refuses() {
    local texts=()
    while [[ $1 != -- ]]; do
        texts+=("$1")
        shift
    done
    shift
    ends 1 "$@"
    for text in "quipu: error:" "${texts[@]}"; do
        said "$text"
    done
}

# calls FUNCTION [DATA]: how often it was entered, by the report.
calls() {
    quipu report --format=json "${2:-quipu.data}" | python3 -c "
import json, sys
print(sum(f['calls'] for f in json.load(sys.stdin)['functions'] if f['name'] == '$1'))"
}

# expect_calls FUNCTION COUNT [DATA]
expect_calls() {
    local got
    got=$(calls "$1" "${3:-quipu.data}") || fail "no report"
    [[ $got -eq $2 ]] || fail "'$1' was called $2 times; the report says $got"
}
