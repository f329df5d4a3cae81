#!/bin/sh
# link.sh: every kind of module, every linker: the cells are found, counted, and nothing else changes.
. "$(dirname "$0")/common.sh.inc"

check_program() {
    rm -rf quipu.data
    silent ./program once
    expect program "slots=64 owned=1 threads=1 cells 2 1 1000 0 0" quipu.data "$1"
    readelf -lW program | grep -q "GNU_STACK.*RWE" && fail "$1: the stack is executable"
    grep -q "program=$work/program command=./program|once|" shown || fail "$1: wrong header"
}

for kind in exe no-pie static static-pie; do
    for linker in bfd gold lld; do
        has ld.$linker || continue
        test $linker$kind = goldstatic-pie && continue # gold makes no such program that starts
        link $kind program "$here/program.c" -fuse-ld=$linker
        check_program "$kind, $linker"
        link $kind program "$here/program.c" -fuse-ld=$linker -ffunction-sections \
            -Wl,--gc-sections -Wl,--as-needed -Wl,-z,now
        check_program "$kind, $linker, --gc-sections"
    done
done
# One object without the property would take it from the whole program.
test "$(readelf -nW "$lib"/*.o "$lib/libquipu-rt.a" | grep -c "IBT, SHSTK")" = \
    "$(($(ar t "$lib/libquipu-rt.a" | wc -l) + 1))" || fail "an object is not for -fcf-protection"
link exe program -flto "$here/program.c"
check_program "-flto"
COMPILER=g++ link exe program -xc "$here/program.c" -xnone
check_program "g++"
rm -rf quipu.data
silent "$(readelf -lW program | sed -n 's/.*interpreter: \(.*\)]/\1/p')" ./program once
expect program "cells 2 1 1000 0 0" quipu.data "started by the dynamic linker"
strip program
check_program "strip"
objcopy --remove-section .note.quipu program
check_program "without the note"

for linker in bfd gold lld; do
    has ld.$linker || continue
    link shared liblibrary.so "$here/library.c" -fuse-ld=$linker -Wl,-z,now
    plain host -DLINKED "$here/host.c" -L. -llibrary -Wl,-rpath,"$work"
    rm -rf quipu.data
    silent ./host linked 50
    expect liblibrary.so "owned=1 threads=1 cells 1 50" quipu.data "shared, $linker"
done

# A module without cells: no file, no directory.
echo 'int main(void) { return 7; }' >empty.c
link exe empty empty.c
rm -rf quipu.data
./empty
test $? = 7 || fail "a program without cells: wrong status"
test ! -e quipu.data || fail "a program without cells made a directory"

# Names that are exported: the runtime's must not be.
nm -D --defined-only liblibrary.so | grep -i quipu && fail "the runtime exports a symbol"
nm -u "$lib/libquipu-rt.a" | awk '$1 == "U" && $2 !~ /^quipu_|^_GLOBAL_/ { print $2 }' |
    sort -u | grep -vx -e dl_iterate_phdr -e environ -e getauxval -e pthread_atfork \
        -e __ehdr_start -e _end -e __cxa_finalize &&
    fail "the runtime uses more of the C library than it should"
exit 0
