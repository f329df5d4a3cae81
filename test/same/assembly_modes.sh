#!/bin/bash
# Hand-written assembly behaves as its plain build in all modes, in both placements, in executables
# and as code for shared objects.
set -eu
exact=$(dirname "$0")/../exact
failed=0

fail() {
    echo "$*"
    failed=1
}

# NAME FILE...: a program of these files in all ways.
compare() {
    local name=$1 mode way
    shift
    gcc -O1 "$@" -o "$name.plain"
    "./$name.plain" >"$name.expect"
    for mode in count event moment calls watch count,event,watch; do
        for way in --quipu-placement=tree --quipu-placement=block -fPIC; do
            if ! quipu cc --quipu=$mode $way -O1 "$@" -o "$name" >"$name.said" 2>&1; then
                fail "$name: $mode $way does not build:" "$(cat "$name.said")"
                continue
            fi
            "./$name" >"$name.got" || fail "$name: $mode $way ends with status $?"
            cmp "$name.expect" "$name.got" || fail "$name: $mode $way prints something else"
        done
    done
}

for name in assembly.S assembly_bytes.s assembly_coded.s assembly_plain.s; do
    compare "${name%.*}" "$exact/$name" "$exact/parts/assembly_main.c"
done
compare frames "$exact/assembly_frames.s" "$exact/parts/frames_main.c"
compare padding_entered "$exact/padding_entered.s" "$exact/parts/padding_main.c"
exit $failed
