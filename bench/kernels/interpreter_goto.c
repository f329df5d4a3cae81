/* interpreter_goto.c: the same interpreter with a computed goto after every instruction. */
#include "bytecode.h"
#include "kernel.h"

#include <stdio.h>

#define NEXT goto *labels[(++at)->opcode]

static uint32_t run(const struct instruction *code, uint32_t limit) {
    static void *const labels[] = {
        [PUSH] = &&push, [LOAD] = &&load, [STORE] = &&store,     [ADD] = &&add,
        [MUL] = &&mul,   [LESS] = &&less, [ODD] = &&odd,         [HALVE] = &&halve,
        [JUMP] = &&jump, [STOP] = &&stop, [JUMP_IF] = &&jump_if,
    };
    uint32_t stack[16], *top = stack, variables[VARIABLES] = {[LIMIT] = limit};
    const struct instruction *at = code - 1;
    NEXT;
push:
    *++top = at->operand;
    NEXT;
load:
    *++top = variables[at->operand];
    NEXT;
store:
    variables[at->operand] = *top--;
    NEXT;
add:
    top--;
    top[0] += top[1];
    NEXT;
mul:
    top--;
    top[0] *= top[1];
    NEXT;
less:
    top--;
    top[0] = top[0] < top[1];
    NEXT;
odd:
    top[0] &= 1;
    NEXT;
halve:
    top[0] /= 2;
    NEXT;
jump:
    at = code + at->operand - 1;
    NEXT;
jump_if:
    if (*top--)
        at = code + at->operand - 1;
    NEXT;
stop:
    return variables[STEPS];
}

int main(int argc, char **argv) {
    uint32_t steps = 0;
    for (unsigned round = kernel_rounds(argc, argv, 80); round; round--)
        steps += run(program, 10000 + round);
    printf("%u\n", steps);
    return 0;
}
