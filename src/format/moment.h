/* moment.h: cells of ticks as countdowns, and the tests of their ends (--quipu=moment). */
#ifndef QUIPU_FORMAT_MOMENT_H
#define QUIPU_FORMAT_MOMENT_H

#include <stdint.h>

/* The cells of ticks are countdowns. A cell is negative until its countdown has ended. The sum of
 * the cells and the base is the count of ticks (modulo 1 << 64). In code for shared objects, each
 * addition of a positive number is followed by
 *
 *     jns slow
 *   slow: leaq -128(%rsp), %rsp; call quipu_end_countdown; leaq 128(%rsp), %rsp; {disp32} jmp back
 *
 * quipu_end_countdown keeps every register and the flags, and finds the addition by that last jump.
 *
 * In executables, additions have no test until there is a countdown. Then each is replaced by a
 * jump to code that adds and tests:
 *
 *   place: addq $N, %gs:cell(%rip)              becomes: the prefix, jmp code, no-operations
 *   back:
 *   code:  addq $N, %gs:cell(%rip); {disp32} js back
 *          leaq -128(%rsp), %rsp; call quipu_end_countdown; leaq 128(%rsp), %rsp; {disp32} jmp back
 *
 * QUIPU_TESTS_SECTION has a row for each of them, between the hidden symbols quipu_tests_begin and
 * quipu_tests_end.
 *
 * For each call of quipu_after, include/quipu.h puts a byte into the section .quipu.waits, between
 * the hidden symbols quipu_waits_begin and quipu_waits_end. If there is one, the runtime inserts
 * the tests before any other constructor runs. */
#define QUIPU_TESTS_SECTION ".quipu.tests"
#define QUIPU_WAITS_SECTION ".quipu.waits"

struct quipu_test {
    int32_t place; /* 0  of the addition, from the address of this field */
    int32_t code;  /* 4  the same, of the code */
    int32_t back;  /* 8  the same, of the instruction behind the addition */
};

enum {
    QUIPU_TEST_JUMP = 1,  /* offset of the jump: a debugger's breakpoint may be in front of it */
    QUIPU_TEST_LEAST = 8, /* least size of an addition in bytes */
    QUIPU_TEST_MOST = 12,
    QUIPU_TEST_BRANCH = 6, /* bytes of the jump behind the addition in the code out of line */
};

#endif
