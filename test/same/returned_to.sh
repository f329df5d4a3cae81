#!/bin/bash
# What calls return to is told, and is found in every mode.
set -uo pipefail
parts=$(cd "$(dirname "$0")/../exact" && pwd)

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

gcc -O2 "$parts/returned_to.s" "$parts/parts/returned_main.c" -o plain || fail "does not compile"
./plain >expected || fail "the plain program fails"
for mode in count count:block moment event calls watch count,moment,calls; do
    flag=--quipu=${mode%:*}
    [ $mode != count:block ] || flag='--quipu=count --quipu-placement=block'
    [ $mode != event ] || flag='--quipu=event --quipu-event=stores --quipu-event=calls'
    # shellcheck disable=SC2086
    quipu cc $flag -O2 "$parts/returned_to.s" "$parts/parts/returned_main.c" -o program \
        2>warnings || fail "$mode: $(cat warnings)"
    ./program >output 2>errors || fail "$mode: status $?: $(cat output errors)"
    cmp -s expected output || fail "$mode: $(cat output) instead of $(cat expected)"
    [ "$(grep -c 'left as it is' warnings)" = 1 ] || fail "$mode: warnings: $(cat warnings)"
done
