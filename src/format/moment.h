/* moment.h: cells of ticks are countdowns, and what tests them (--quipu=moment). */
#ifndef QUIPU_FORMAT_MOMENT_H
#define QUIPU_FORMAT_MOMENT_H

#include <stdint.h>

/* The cells of ticks are countdowns: they are negative until they have ended, and the sum of them
 * and the base is what has been counted (modulo 1 << 64).  Behind each addition to one that is
 * above zero, in code for shared objects, stands
 *
 *     jns slow
 *   slow: leaq -128(%rsp), %rsp; call quipu_end_countdown; leaq 128(%rsp), %rsp; {disp32} jmp back
 *
 * where quipu_end_countdown keeps every register and the flags, and finds the place by that jump.
 *
 * In executables additions have no test until somebody waits.  Who does has a jump put over each,
 * to code that adds and tests:
 *
 *   place: addq $N, %gs:cell(%rip)              to be: the prefix, jmp code, no-operations
 *   back:
 *   code:  addq $N, %gs:cell(%rip); {disp32} js back
 *          leaq -128(%rsp), %rsp; call quipu_end_countdown; leaq 128(%rsp), %rsp; {disp32} jmp back
 *
 * QUIPU_TESTS_SECTION has a row for each, between the hidden symbols quipu_tests_begin and
 * quipu_tests_end.
 *
 * A program that may call quipu_after has a byte for each call in the section .quipu.waits, between
 * the hidden symbols quipu_waits_begin and quipu_waits_end, made by include/quipu.h: then the
 * runtime puts the tests in, before any other constructor. */
#define QUIPU_TESTS_SECTION ".quipu.tests"
#define QUIPU_WAITS_SECTION ".quipu.waits"

struct quipu_test {
    int32_t place; /* 0  of the addition, from the address of this field */
    int32_t code;  /* 4  the same, of the code */
    int32_t back;  /* 8  and of what stands behind the addition */
};

enum {
    QUIPU_TEST_JUMP = 1, /* offset of the jump: a debugger may have its breakpoint in front of it */
    QUIPU_TEST_LEAST = 8, /* bytes of an addition */
    QUIPU_TEST_MOST = 12,
};

#endif
