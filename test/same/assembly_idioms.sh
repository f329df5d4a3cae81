#!/bin/bash
# Hand-written code that computes with its own addresses, in every mode: it does the same as plain, and
# each function of parts/idioms*.S is counted, or left alone for the reason that stands in front of it.
set -uo pipefail
parts=$(cd "$(dirname "$0")" && pwd)/parts
unset QUIPU_DATA

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

# FILE: all of that.
check() {
    local file=$parts/$1
    sed -n 's/^[A-Z_]*FUNCTION(\(.*\)):$/X(\1)/p' "$file" >idioms.inc
    awk '/^\/\/ (counted|left: )/ { told = substr($0, 4) }
        /^[A-Z_]*FUNCTION\(/ { name = $0; gsub(/.*FUNCTION\(|\):/, "", name); print name ": " told }' \
        "$file" >expected
    [[ $(wc -l <expected) -ge 10 ]] || fail "the idioms cannot be read"

    # The plain binary tells what is right; a static one has other addresses.
    gcc -w -no-pie -I. "$file" "$parts/idioms_main.c" -o plain || fail "cannot be built"
    ./plain >plain.out || fail "plain: status $?"
    [[ $(wc -l <plain.out) -eq $(wc -l <expected) ]] || fail "not all idioms were run"
    for mode in count event moment calls watch; do
        for flags in "" -static; do
            # shellcheck disable=SC2086
            quipu cc --quipu=$mode -no-pie $flags -I. "$file" "$parts/idioms_main.c" -o $mode 2>messages ||
                fail "$mode $flags: $(cat messages)"
            ./$mode >$mode.out || fail "$mode $flags: status $?, behind '$(tail -n 1 $mode.out)'"
            diff plain.out $mode.out >differences || fail "$mode $flags: $(cat differences)"
        done
        quipu info --format=json $mode | python3 -c '
import json, sys
left = {f["name"]: f["reason"] for f in json.load(sys.stdin)["binaries"][0]["left_alone"]}
for line in open("expected"):
    name = line.split(":")[0]
    print(name + ": " + ("left: " + left[name] if name in left else "counted"))' >told
        diff expected told >differences || fail "$mode: told otherwise: $(cat differences)"
    done
}

check idioms.S
check idioms_calls.S
check idioms_moved.S
