#!/bin/bash
# Restartable sequences of the kernel's stay as they are, in every mode: nothing comes behind the store that
# ends one, or it would be done twice.
set -uo pipefail
source=$(cd "$(dirname "$0")" && pwd)/parts/restarts.c

fail() {
    printf '%s\n' "restarts.sh: $*"
    exit 1
}

for flags in '-O2 -ffixed-r11' '-O0 -fPIC'; do
    # shellcheck disable=SC2086
    gcc -pthread $flags "$source" -o plain && ./plain >plain.out || fail "plain: status $?"
    for mode in count event moment calls watch; do
        # shellcheck disable=SC2086
        quipu cc --quipu=$mode -pthread $flags "$source" -o program 2>messages || fail "$mode: $(cat messages)"
        ./program >program.out || fail "$mode $flags: status $?"
        diff plain.out program.out >differences || fail "$mode $flags: $(cat differences)"
        quipu info program >told || fail "$mode $flags: no info"
        grep -q 'add_by_places.* a range of it is recorded' told || fail "$mode $flags: $(cat told)"
        grep -q 'add_by_length.* a distance between labels goes over it' told || fail "$mode $flags: $(cat told)"
    done
done
