#!/bin/bash
# readers.sh [SEEDS [FIRST]]: damaged data files, notes and binaries end in an error, never in a
# crash, a hang or a sanitizer's report.  See readers.c.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(mkdir -p "${QUIPU_BUILD:-$root/build}" && cd "${QUIPU_BUILD:-$root/build}" && pwd)/fuzz
mkdir -p "$build"
work=$(mktemp -d)

# By hand, and by the shim.
gcc -g -nostdlib -static -Wl,--build-id -o "$work/by-hand" "$here/sample.s"
"$build/../bin/quipu" cc -O2 -g -o "$work/by-shim" "$here/sample.c"
"$build/../bin/quipu" cc -O2 -g --quipu=count,event '--quipu-event=products=*mul*' \
    '--quipu-event=calls-out=call:*' -o "$work/by-event" "$here/sample.c"

# Built again only where a source is newer.
sources=$(ls "$here/readers.c" "$root"/src/{data,symbols,util}/*.c \
    "$root"/src/x86/{access,computation,decode,linear,names,registers,thread,transfer}.c \
    "$root"/src/report/{function_parts,line_counts}.c)
newer=$(find "$root/src" "$here" -name '*.[ch]' -newer "$build/readers" 2>/dev/null | head -1 || true)
if [ ! -x "$build/readers" ] || [ -n "$newer" ]; then
    # shellcheck disable=SC2086
    gcc -std=c11 -D_GNU_SOURCE -I"$root/src" -g -O1 -fsanitize=address,undefined \
        -fno-sanitize-recover=all -fno-omit-frame-pointer -o "$build/readers" $sources \
        -liberty -lZydis -lZycore -ldw -lelf -lzstd -lz
fi

# An error ends the program with what it had allocated: that is no leak.
export ASAN_OPTIONS=exitcode=99:detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=2048
export UBSAN_OPTIONS=print_stacktrace=1
for sample in by-hand by-shim by-event; do
    if ! "$build/readers" "$work/$sample" "$work" "${1:-600}" "${2:-1}"; then
        [ ! -e "$work/log" ] || cat "$work/log"
        echo "its files are kept in '$work'"
        exit 1
    fi
done
rm -rf "$work"
