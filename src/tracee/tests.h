/* tests.h: the tests of countdowns in a program under our control. */
#ifndef QUIPU_TRACEE_TESTS_H
#define QUIPU_TRACEE_TESTS_H

#include "symbols/binary.h"
#include "util/vector.h"

#include <sys/types.h>

/* An addition of ticks, its code out of line, and the instruction behind it: as linked. */
struct test {
    uint64_t place, code, back;
};

typedef VECTOR(struct test) test_list;

/* Adds the tests that the shim has left out of BINARY to TESTS, in ARENA. Returns NULL, or a
 * message if their table is damaged. */
const char *read_tests(struct arena *arena, const struct binary *binary, test_list *tests);

/* Inserts the tests that the shim has left out into PROCESS, which has executed nothing yet. BIAS
 * is its load address minus that of BINARY. Returns NULL or a message. */
const char *put_tests(pid_t process, const struct binary *binary, uint64_t bias);

/* Removes the tests from PROCESS, which is stopped. Then another debugger finds the file's text,
 * and the process continues at full speed. They stay in a program that calls quipu_after, because
 * the runtime would have inserted them for it. */
void take_tests_out(pid_t process, const struct binary *binary, uint64_t bias);

#endif
