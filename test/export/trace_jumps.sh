#!/bin/bash
# trace_jumps.sh: control that leaves a function by a conditional jump, by running out of its text, or
# for a function that has only a name, comes to traced code without a gap.  A gap behind such a jump has
# the callee's name, and nothing of what earlier calls accessed.
. "$(dirname "$0")/lib.bash"

cat >parts.s <<'S'
    .text
    .globl release
    .type release, @function
release:                        # long release(void *block, long n)
    test %rdi, %rdi
    jne free
    test %rsi, %rsi
    je next
    jmp .Lwithin
    .size release, .-release

    .globl enter
    .type enter, @function
enter:                          # long enter(long, long n)
    xor %eax, %eax
.Lwithin:
    push %rsi
    call untyped
    pop %rsi
    ret
    .size enter, .-enter

untyped:
    lea 1(%rsi), %rax
    ret
    .size untyped, .-untyped

    .globl run_out
    .type run_out, @function
run_out:                        # long run_out(long n)
    add $1, %rdi
    test %rdi, %rdi
    js next
    .size run_out, .-run_out
    .type run_on, @function
run_on:
    nop
    .size run_on, .-run_on
    .globl next
    .type next, @function
next:
    lea 2(%rdi), %rax
    ret
    .size next, .-next
    .section .note.GNU-stack, "", @progbits
S
cat >program.c <<'C'
#include <stdlib.h>
#include <string.h>
long release(void *block, long n), enter(long unused, long n), run_out(long n);
char from[64], to[64];
int main(int argc, char **argv) {
    (void)argv;
    memcpy(to, from, 8 * (size_t)argc);
    void *block = malloc((size_t)argc);
    release(block, argc);
    long sum = release(NULL, 0) + release(NULL, argc) + enter(0, argc) + run_out(argc) + run_out(-5);
    return sum != 2 + 2 + 2 + 4 - 2;
}
C
sed 's/^/  /' >expected <<'TEXT'
memcpy
malloc
free
caller of main
TEXT
for mode in trace moment,trace; do
    "$quipu" cc --quipu=$mode -O1 program.c parts.s -o program || fail "cannot build"
    "$quipu" trace -o t -- ./program || fail "$mode: cannot run it: $?"
    "$quipu" print t >t.text || fail "$mode: cannot print it"
    sed -n 's/^-- not traced: /  /p' t.text | diff expected - || fail "$mode: the gaps are others"
    grep -A1 -x -e '-- not traced: free' t.text >behind || fail "$mode: free was not called"
    grep -q '^  [RW]' behind && fail "$mode: free has accessed memory"
    for function in release enter untyped run_out run_on next; do
        grep -q " $function+0x0 " t.text || fail "$mode: $function is not in the trace"
    done
done
