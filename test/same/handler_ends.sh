#!/bin/bash
# The code that ends a signal handler, which C libraries name to the kernel, stays as it is: in every mode a
# handler's backtrace comes to main.
set -uo pipefail
parts=$(cd "$(dirname "$0")" && pwd)/parts
sources="$parts/handler_ends.c $parts/handler_ends_code.S"

fail() {
    printf '%s\n' "handler_ends.sh: $*"
    exit 1
}

for flags in '-O2 -fasynchronous-unwind-tables' '-O0 -static'; do
    # shellcheck disable=SC2086
    gcc $flags $sources -o plain || fail "$flags: not built"
    ./plain >plain.out
    status=$?
    grep -q 'main is frame [1-9]' plain.out || fail "plain, $flags: $(cat plain.out)"
    for mode in count event moment calls watch; do
        # shellcheck disable=SC2086
        quipu cc --quipu=$mode $flags $sources -o program 2>messages || fail "$mode $flags: $(cat messages)"
        ./program >program.out
        [[ $? == "$status" ]] || fail "$mode $flags: not status $status, behind '$(tail -n 1 program.out)'"
        diff plain.out program.out >differences || fail "$mode $flags: $(cat differences)"
        grep -q "'restore_rt': it ends a signal handler" messages || fail "$mode $flags: $(cat messages)"
    done
done
