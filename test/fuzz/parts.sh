#!/bin/bash
# parts.sh [SEEDS [FIRST]]: damaged results of parts end in an error, never in a crash, a hang or a sanitizer's
# report.  See parts.c.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(mkdir -p "${QUIPU_BUILD:-$root/build}" && cd "${QUIPU_BUILD:-$root/build}" && pwd)/fuzz
mkdir -p "$build"

# Built again only where a source is newer.
sources=$(ls "$here/parts.c" "$root"/src/cache/{cache,cache_merge,cache_part,heap_blocks,heap_merge,kept,levels,number_table,open_set}.c \
    "$root"/src/cache/{order_merge,order_part,part_file,processors,reuse,reuse_merge,reuse_part,shape}.c \
    "$root"/src/trace/ticket_order.c "$root"/src/util/{arena,buffer,cursor,diag,fault,map,near,size,terminal}.c)
newer=$(find "$root/src" "$here" -name '*.[ch]' -newer "$build/parts" 2>/dev/null | head -1 || true)
if [ ! -x "$build/parts" ] || [ -n "$newer" ]; then
    # shellcheck disable=SC2086
    gcc -std=c11 -D_GNU_SOURCE -I"$root/src" -g -O1 -fsanitize=address,undefined \
        -fno-sanitize-recover=all -fno-omit-frame-pointer -ffunction-sections -Wl,--gc-sections \
        -o "$build/parts" $sources -lzstd
fi

# An error ends the program with what it had allocated: that is no leak.
export ASAN_OPTIONS=exitcode=99:detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=2048
export UBSAN_OPTIONS=print_stacktrace=1
log=$(mktemp)
"$build/parts" "${1:-250}" "${2:-1}" 2>"$log" || {
    grep -v '^quipu: ' "$log" | head -n 40
    exit 1
}
rm -f "$log"
