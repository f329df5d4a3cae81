#!/bin/bash
# The code that ends signal handlers, and threads that give their stacks back, stays as it is: in every mode
# a handler's backtrace comes to main, and threads end.
set -uo pipefail
parts=$(cd "$(dirname "$0")" && pwd)/parts

fail() {
    printf '%s\n' "ends.sh: $*"
    exit 1
}

# SOURCE FLAGS WARNING: all modes do as plain, and tell of what is left alone.
check() {
    local sources="$parts/$1.c $parts/$1_code.S" flags=$2 status
    # shellcheck disable=SC2086
    gcc $flags $sources -o plain || fail "$1, $flags: not built"
    ./plain >plain.out
    status=$?
    for mode in count event moment calls watch; do
        # shellcheck disable=SC2086
        quipu cc --quipu=$mode $flags $sources -o program 2>messages || fail "$1, $mode $flags: $(cat messages)"
        ./program >program.out
        [[ $? == "$status" ]] || fail "$1, $mode $flags: not status $status, behind '$(tail -n 1 program.out)'"
        diff plain.out program.out >differences || fail "$1, $mode $flags: $(cat differences)"
        grep -q "$3" messages || fail "$1, $mode $flags: $(cat messages)"
    done
}

for flags in '-O2 -fasynchronous-unwind-tables' '-O0 -static'; do
    check handler_ends "$flags" "'restore_rt': it ends a signal handler"
    grep -q 'main is frame [1-9]' plain.out || fail "plain, $flags: $(cat plain.out)"
done
check thread_ends '-O2' "'end_thread': it ends its thread when the stack may be gone"
grep -q 'ended, 5' plain.out || fail "plain: $(cat plain.out)"
