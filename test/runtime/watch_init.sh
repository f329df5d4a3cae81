#!/bin/bash
# Code in the section .init that is compiled for shared objects, and linked into an executable: it runs
# before constructors, and stores with checks.
. "$(dirname "$0")/../bad/lib.bash"
cat >library.c <<'C'
static long done[4];

__attribute__((noinline)) static void store(long *to, int n) {
    for (int i = 0; i < n; i++)
        to[i] += i + 1;
}

void at_begin(void) {
    store(done, 4);
}

__asm__(".pushsection .init, \"ax\", @progbits; call at_begin; .popsection");

long sum(void) {
    return done[0] + done[1] + done[2] + done[3];
}
C
cat >main.c <<'C'
#include <stdio.h>

long sum(void);

int main(void) {
    printf("%ld\n", sum());
    return 0;
}
C
ends 0 gcc -O1 -c main.c
ends 0 quipu cc --quipu=watch -O1 -fPIC -c library.c
for linker in bfd gold lld mold; do
    has "ld.$linker" || continue
    for options in '' -static -no-pie; do
        # shellcheck disable=SC2086
        ends 0 quipu cc --quipu=watch $options "-fuse-ld=$linker" main.o library.o -o program
        ends 0 ./program
        [[ $(<output) == 10 ]] || fail "$linker, '$options': $(<output)"
    done
done
exit 0
