#!/bin/bash
# --quipu=null: through all stages of the shim the code stays the compiler's, byte by byte, in each
# section, and the program needs nothing of the runtime's.
set -uo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)

fail() {
    echo "null: $*"
    exit 1
}

# code OBJECT: the bytes of all its sections of code.
code() {
    local section
    for section in $(readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] \(\.text[^ ]*\) .* AX .*/\1/p' | sort -u); do
        echo "$section"
        objcopy -O binary --only-section="$section" "$1" "$1.bytes"
        [[ ! -e $1.bytes ]] || sha256sum <"$1.bytes" # an empty section makes no file
        rm -f "$1.bytes"
    done
}

compared=0
flags=(-O0 -O2 '-O3 -fPIC -march=x86-64-v3' '-Os -ffunction-sections')
for source in "$here"/bench/kernels/*.c "$here"/examples/*/*.c "$here"/test/exact/*.c; do
    words="${flags[compared % 4]} -g -w -I$here/include"
    # shellcheck disable=SC2086
    gcc $words -c -o plain.o "$source" 2>/dev/null || continue
    # shellcheck disable=SC2086
    quipu cc --quipu=null $words -c -o null.o "$source" || fail "'$source' is not compiled: $words"
    cmp -s <(code plain.o) <(code null.o) || fail "'$source', $words: other code"
    compared=$((compared + 1))
done
[[ $compared -gt 60 ]] || fail "only $compared objects were compared"

quipu cc --quipu=null -O2 -o program "$here/bench/kernels/sieve.c" -I"$here/bench/kernels" 2>errors ||
    fail "it does not link: $(cat errors)"
grep -q null < <(quipu info program) || fail "'quipu info' does not name the mode"
