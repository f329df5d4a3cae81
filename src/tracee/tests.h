/* tests.h: the tests of countdowns in a program that runs under our control. */
#ifndef QUIPU_TRACEE_TESTS_H
#define QUIPU_TRACEE_TESTS_H

#include "symbols/binary.h"

#include <sys/types.h>

/* Puts the tests that the shim has left out into PROCESS, which was loaded BIAS above where BINARY
 * says and has executed nothing.  Returns NULL or what is wrong. */
const char *put_tests(pid_t process, const struct binary *binary, uint64_t bias);

/* Takes them out of PROCESS, which stands: who looks at it finds the file's text, and it goes on at
 * full speed.  But where it calls quipu_after, for which the runtime would have put them in. */
void take_tests_out(pid_t process, const struct binary *binary, uint64_t bias);

#endif
