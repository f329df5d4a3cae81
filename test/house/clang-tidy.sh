#!/bin/bash
# clang-tidy finds nothing in the tool and the runtime.  What it has passed is not looked at again
# until it, or a header, changes.  The analyzer may take a ninth of its usual steps in a function, which
# halves the time to some three minutes; 'make check-full' lets it take all of them.
set -uo pipefail
. "$(dirname "$0")/../needs.sh.inc"
needs clang-tidy-14
cd "$(dirname "$0")/../.." || exit 1
checks='-*,clang-analyzer-*,bugprone-*,misc-redundant-expression,misc-static-assert,readability-misleading-indentation,readability-redundant-declaration,readability-non-const-parameter,performance-*,cert-err34-c,cert-flp30-c,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-valist.Uninitialized,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions,-bugprone-implicit-widening-of-multiplication-result,-bugprone-reserved-identifier,-bugprone-assignment-in-if-condition,-bugprone-macro-parentheses,-bugprone-branch-clone,-bugprone-suspicious-include,-bugprone-sizeof-expression,-performance-no-int-to-ptr,-readability-redundant-declaration,-bugprone-misplaced-widening-cast'
steps=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang
    "--extra-arg=max-nodes=${QUIPU_STEPS:-25000}")
passed=${QUIPU_BUILD:-build}/tidy
mkdir -p "$passed"
headers=$(cat library/*.h src/*/*.h src/*/*/*.h runtime/*/*.h "$0" <(echo "${steps[@]}") | sha256sum)
status=0
for file in src/*.c src/*/*.c src/*/*/*.c library/*.c runtime/*/*.c; do
    sum=$(sha256sum <<<"$headers $(sha256sum <"$file")" | cut -c1-32)
    [[ -e $passed/$sum ]] && continue
    flags=(-std=c11 -D_GNU_SOURCE -I. -Isrc -Iinclude -DQUIPU_DEMANGLE)
    if clang-tidy-14 --quiet --warnings-as-errors='*' --checks="$checks" "${steps[@]}" "$file" -- \
        "${flags[@]}" \
        >"$TMPDIR/tidy" 2>"$TMPDIR/tidy.errors"; then
        : >"$passed/$sum"
    else
        grep -E ': (error|warning): ' "$TMPDIR/tidy"
        grep error "$TMPDIR/tidy.errors"
        status=1
    fi
done
exit $status
