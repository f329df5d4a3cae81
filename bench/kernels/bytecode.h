/* bytecode.h: the stack machine that interpreter_goto.c and interpreter_switch.c both run, and its
 * program, which adds up the lengths of Collatz paths:
 *
 *     for (n = 2; n < limit; n++)
 *         for (m = n; m > 1; m = m odd ? 3 m + 1 : m / 2)
 *             steps++ */
#ifndef QUIPU_BENCH_BYTECODE_H
#define QUIPU_BENCH_BYTECODE_H

#include <stdint.h>

enum opcode {
    PUSH,  /* the operand */
    LOAD,  /* variable to stack */
    STORE, /* stack to variable */
    ADD,   /* of the two on top; so are the next two */
    MUL,
    LESS,
    ODD,     /* of the one on top */
    HALVE,   /* of the one on top */
    JUMP,    /* to the operand's instruction */
    JUMP_IF, /* pops; jumps when it is not 0 */
    STOP,
};

enum variable {
    N,
    M,
    STEPS,
    LIMIT,
    VARIABLES
};

struct instruction {
    uint16_t opcode, operand;
};

/* clang-format off: the numbers are the targets of jumps */
static const struct instruction program[] = {
    /*  0 */ {PUSH, 2},     {STORE, N},
    /*  2 */ {LOAD, N},     {LOAD, LIMIT}, {LESS, 0},     {JUMP_IF, 7},   {STOP, 0},
    /*  7 */ {LOAD, N},     {STORE, M},
    /*  9 */ {PUSH, 1},     {LOAD, M},     {LESS, 0},     {JUMP_IF, 18},
    /* 13 */ {LOAD, N},     {PUSH, 1},     {ADD, 0},      {STORE, N},     {JUMP, 2},
    /* 18 */ {LOAD, STEPS}, {PUSH, 1},     {ADD, 0},      {STORE, STEPS},
    /* 22 */ {LOAD, M},     {ODD, 0},      {JUMP_IF, 29},
    /* 25 */ {LOAD, M},     {HALVE, 0},    {STORE, M},    {JUMP, 9},
    /* 29 */ {LOAD, M},     {PUSH, 3},     {MUL, 0},      {PUSH, 1},      {ADD, 0},
    /* 34 */ {STORE, M},    {JUMP, 9},
};
/* clang-format on */

#endif
