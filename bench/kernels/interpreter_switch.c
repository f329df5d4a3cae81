/* interpreter_switch.c: a bytecode interpreter with one switch in a loop. */
#include "bytecode.h"
#include "kernel.h"

#include <stdio.h>

static uint32_t run(const struct instruction *code, uint32_t limit) {
    uint32_t stack[16], *top = stack, variables[VARIABLES] = {[LIMIT] = limit};
    for (const struct instruction *at = code;; at++) {
        switch (at->opcode) {
        case PUSH:
            *++top = at->operand;
            break;
        case LOAD:
            *++top = variables[at->operand];
            break;
        case STORE:
            variables[at->operand] = *top--;
            break;
        case ADD:
            top--;
            top[0] += top[1];
            break;
        case MUL:
            top--;
            top[0] *= top[1];
            break;
        case LESS:
            top--;
            top[0] = top[0] < top[1];
            break;
        case ODD:
            top[0] &= 1;
            break;
        case HALVE:
            top[0] /= 2;
            break;
        case JUMP:
            at = code + at->operand - 1;
            break;
        case JUMP_IF:
            if (*top--)
                at = code + at->operand - 1;
            break;
        default:
            return variables[STEPS];
        }
    }
}

int main(int argc, char **argv) {
    uint32_t steps = 0;
    for (unsigned round = kernel_rounds(argc, argv, 60); round; round--)
        steps += run(program, 10000 + round);
    printf("%u\n", steps);
    return 0;
}
