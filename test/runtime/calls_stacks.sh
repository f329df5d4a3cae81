#!/bin/bash
# --quipu=calls: hand-written code switches from one stack to another, as coroutine libraries do, by an indirect
# jump or by a return.  What is executed behind that belongs to the function that goes on.
. "$(dirname "$0")/../bad/lib.bash"

cat >switch.S <<'EOT'
        .globl  by_jump, by_return, entered
        .type   by_jump, @function
by_jump: pushq  %rbp            /* void *by_jump(void *stack): goes on there, returns the stack that it left */
        pushq   %rbx
        movq    %rsp, %rax
        movq    %rdi, %rsp
        popq    %rbx
        popq    %rbp
        popq    %r8
        movq    %rax, %rdi
        jmp     *%r8
        .size   by_jump, .-by_jump
        .type   by_return, @function
by_return: pushq %rbp
        pushq   %rbx
        movq    %rsp, %rax
        movq    %rdi, %rsp
        popq    %rbx
        popq    %rbp
        ret
        .size   by_return, .-by_return
        .type   entered, @function
entered: movq   %rax, %rdi
        call    body
        hlt
        .size   entered, .-entered
        .section .note.GNU-stack, "", @progbits
EOT
cat >program.c <<'EOT'
#include <stdint.h>
void *by_jump(void *stack), *by_return(void *stack);
void entered(void);
static volatile int x;
__attribute__((noinline)) static void *hop(void *to, int n, int way) {
    void *from = way ? by_return(to) : by_jump(to);
    for (int i = 0; i < n; i++)
        x++; /* main's hop: 1000 times behind the switch back */
    return from;
}
__attribute__((noinline)) void body(void *from) {
    for (int i = 0;; i++)
        from = hop(from, 0, i & 1);
}
static uint64_t stack[8192];
int main(void) {
    uint64_t *top = stack + 8192 - 4;
    top[2] = (uint64_t)entered;
    void *other = top;
    for (int i = 0; i < 4; i++)
        other = hop(other, 1000, i & 1);
    return 0;
}
EOT
for flags in -fPIE -fPIC '-fno-pie -no-pie'; do
    # shellcheck disable=SC2086
    quipu cc --quipu=calls -O1 -g $flags program.c switch.S -o program 2>messages || fail "cannot build: $(cat messages)"
    rm -f quipu.data
    ./program || fail "$flags: status $?"
    quipu report --by=callsite --format=json quipu.data >sites 2>messages || fail "$(cat messages)"
    python3 - <<'EOT' || fail "$flags: $(cat sites)"
import json
rows = json.load(open('sites'))['callsites']
hops = [row for row in rows if row['callee'] == 'hop']
mains = [row for row in hops if row.get('caller') == 'main']
others = [row for row in hops if row.get('caller') == 'body']
assert len(mains) and len(others), hops
assert sum(row['calls'] for row in mains) == 4, mains
assert sum(row['instructions'] for row in mains) > 16000, mains
assert sum(row['instructions'] for row in others) < 200, others
EOT
done
