/* store.h: finds the instruction that has just written what debug registers watch. */
#ifndef QUIPU_TRACEE_STORE_H
#define QUIPU_TRACEE_STORE_H

#include "symbols/binary.h"
#include "tracee/serial.h"

/* The program that a process executes. */
struct code_of {
    const struct binary *binary;
    uint64_t bias; /* its load address minus its address as linked */
};

/* THREAD, of PROGRAM, is stopped behind an instruction that has written the parts of WATCH whose
 * bits are in WRITTEN. LAST_WRITE is where it was stopped behind its previous write, or 0. Returns
 * the instruction's address, or 0 if it cannot be determined. */
uint64_t find_writing_instruction(const struct code_of *program, pid_t thread,
                                  const struct watch *watch, unsigned written, uint64_t last_write);

#endif
