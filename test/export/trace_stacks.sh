#!/bin/bash
# trace_stacks.sh: hand-written code that returns on another stack, or whose computed jump leads to a label of its
# own below saved registers, leaves no gap where it comes back to traced code.
. "$(dirname "$0")/lib.bash"

cat >hand.s <<'S'
        .text
        .globl  switch_stack
        .type   switch_stack, @function
switch_stack:
        pushq   %rbx
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        popq    %rbx
        ret
        .size   switch_stack, .-switch_stack

        .globl  choose
        .type   choose, @function
choose:
        pushq   %rbx
        leaq    .Leven(%rip), %rbx
        testl   $1, %edi
        je      .Lgo
        leaq    .Lodd(%rip), %rbx
.Lgo:
        jmp     *%rbx
.Leven:
        movl    $2, %eax
        popq    %rbx
        ret
.Lodd:
        movl    $1, %eax
        popq    %rbx
        ret
        .size   choose, .-choose
        .section .note.GNU-stack,"",@progbits
S
cat >program.c <<'C'
void switch_stack(void **from, void *to);
int choose(int x);
static void *room[1024], *of_main, *of_other;
static volatile int count;
static void other(void) {
    for (;;) {
        count++;
        switch_stack(&of_other, of_main);
    }
}
int main(void) {
    room[1021] = (void *)other;
    of_other = &room[1020];
    for (int i = 0; i < 10; i++) {
        switch_stack(&of_main, of_other);
        count += choose(i);
    }
    return count;
}
C
for mode in trace moment,trace; do
    "$quipu" cc --quipu=$mode -O1 -g program.c hand.s -o program || fail "cannot build"
    status=0
    "$quipu" trace -o t -- ./program || status=$?
    [[ $status -eq 25 ]] || fail "$mode: the program returns something else"
    "$quipu" print t >out 2>err || fail "$mode: $(cat err)"
    grep '^-- not traced' out | sort -u >gaps
    [[ $(cat gaps) == '-- not traced: caller of main' ]] || fail "$mode: gaps: $(cat gaps)"
    ! grep -q '[?]$' out || fail "$mode: addresses are not known: $(grep -m 3 '[?]$' out)"
done
