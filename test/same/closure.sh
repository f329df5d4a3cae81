#!/bin/bash
# A function whose third argument is the address right above its return address is no signal handler
# for that, as libffi's closures are none: its other arguments are what the caller gave.
set -eu
cat >closure.c <<'END'
#include <signal.h>
#include <stdio.h>

typedef long closure(long a, long b, void *above, long d, long e, long f);

__attribute__((noinline)) long add(long a, long b, void *above, long d, long e, long f) {
    return a + 2 * b + 3 * (above != NULL) + 4 * d + 5 * e + 6 * f;
}

closure *volatile chosen = add;

// The caller's stack pointer is the third argument.
__asm__("\t.text\n"
        "\t.type call_by_stack, @function\n"
        "call_by_stack:\n"
        "\tpushq %rbx\n"
        "\tmovq %rdi, %rbx\n"
        "\tmovl $11, %edi\n"
        "\tmovl $12, %esi\n"
        "\tmovl $13, %ecx\n"
        "\tmovl $14, %r8d\n"
        "\tmovl $15, %r9d\n"
        "\tmovq %rsp, %rdx\n"
        "\tcall *%rbx\n"
        "\tpopq %rbx\n"
        "\tret\n"
        "\t.size call_by_stack, .-call_by_stack\n");
long call_by_stack(closure *called);

int main(void) {
    long sum = 0;
    signal(SIGUSR1, SIG_IGN);
    for (int i = 0; i < 10; i++)
        sum += call_by_stack(chosen);
    printf("%ld\n", sum);
    return 0;
}
END
gcc -O2 closure.c -o plain
./plain >expect
for mode in event moment count,event calls; do
    for way in -O2 '-O2 -fPIC'; do
        # shellcheck disable=SC2086
        quipu cc --quipu=$mode $way closure.c -o closure
        ./closure >got
        cmp expect got
    done
done
