/* counter_read.h: instructions that read the time stamp counter: rdtsc and rdtscp.
 *
 * The kernel can make them fault (PR_SET_TSC), but on some virtual machines nothing faults then. So
 * they are replaced: an instruction of the same size faults in their place. */
#ifndef QUIPU_X86_COUNTER_READ_H
#define QUIPU_X86_COUNTER_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    COUNTER_READ_MAX = 3 /* bytes of such an instruction */
};

/* Returns the size of the instruction at the begin of the COUNT bytes at CODE if it is one of them,
 * otherwise 0. */
unsigned counter_read_size(const uint8_t *code, size_t count);

/* Returns the offset of the next bytes from FROM on that may be such an instruction, or COUNT. */
size_t find_counter_read(const uint8_t *code, size_t count, size_t from);

/* Whether the bytes at OFFSET are an instruction of the code that begins at CODE, and has only
 * instructions from there to OFFSET. */
bool is_instruction_at(const uint8_t *code, size_t count, size_t offset);

/* In place of the instruction, SIZE bytes at CODE, one faults by SIGILL. */
void replace_counter_read(uint8_t *code);

/* Reads the counter itself, and the number of the processor. */
uint64_t read_counter(uint32_t *processor);

/* THREAD is stopped at such an instruction of SIZE bytes. It goes on behind it, with VALUE and
 * PROCESSOR. */
bool answer_counter_read(pid_t thread, unsigned size, uint64_t value, uint32_t processor);

#endif
