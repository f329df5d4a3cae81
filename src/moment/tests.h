/* tests.h: the tests of countdowns in a program that runs under our control. */
#ifndef QUIPU_MOMENT_TESTS_H
#define QUIPU_MOMENT_TESTS_H

#include "data/binary.h"
#include "moment/tracee.h"

/* Puts the tests that the shim has left out into TRACEE, which was loaded BIAS above where BINARY
 * says and has executed nothing.  Returns NULL or what is wrong. */
const char *put_tests(const struct tracee *tracee, const struct binary *binary, uint64_t bias);

#endif
