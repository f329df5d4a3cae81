#!/bin/bash
# Code of a shared object that runs before its constructors, in section .init or in a function _init:
# its stores have checks, and nothing but the module itself can have them made possible.
set -uo pipefail
unset QUIPU_DATA

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

cat >common.h <<'C'
static int table[4];
int calls;
int get(int i);
int get(int i) {
    return table[i];
}
static void fill(void) {
    for (int i = 0; i < 4; i++)
        table[i] = i + 1;
    calls++;
}
C
cat >section.c <<'C'
#include "common.h"
__attribute__((noinline, used)) static void set_up(void) {
    fill();
}
__asm__(".pushsection .init, \"ax\", @progbits; call set_up; .popsection");
C
cat >function.c <<'C'
#include "common.h"
void _init(void);
void _init(void) {
    calls++;
    fill();
}
C
cat >main.c <<'C'
#include <stdio.h>
int get(int i);
extern int calls;
int main(void) {
    printf("%d %d %d\n", calls, get(0), get(3));
    return 0;
}
C

# loads EXPECTED FILE [OPTION...]: by a program without quipu.
loads() {
    local expected=$1 file=$2 modes said
    for modes in watch count,watch event,moment,calls,watch; do
        rm -rf quipu.data
        quipu cc --quipu=$modes -fPIC -shared "$file" "${@:3}" -o module.so ||
            fail "$modes $*: does not build"
        gcc main.c ./module.so -o program || fail "$modes $*: no program"
        said=$(./program 2>&1)
        [[ $said == "$expected" ]] || fail "$modes $*: $said"
    done
}

for optimization in -O0 -O2; do
    loads '1 1 4' section.c $optimization
    loads '1 1 4' section.c $optimization -masm=intel
    loads '2 1 4' function.c $optimization -nostartfiles
    loads '2 1 4' function.c $optimization -nostartfiles -fcf-protection=full
    loads '2 1 4' function.c $optimization -nostartfiles -masm=intel
done
