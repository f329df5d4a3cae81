#!/bin/bash
# clang builds quipu, too, without a warning, and what it has built works.
. "$(dirname "$0")/../needs.sh.inc"
needs clang
top=$(cd "$(dirname "$0")/../.." && pwd)
clang=$(the_one clang)
make -s -C "$top" B="$PWD/build" CC="$clang" CFLAGS=-O0 all >made 2>&1 || {
    cat made
    exit 1
}
grep -q clang < <(readelf -p .comment build/bin/quipu) || {
    echo "clang has not built it"
    exit 1
}
echo 'int main(void) { return 0; }' >program.c
build/bin/quipu cc -O1 program.c -o program && ./program && build/bin/quipu report >report &&
    grep -q ' main$' report || {
    cat report
    exit 1
}
