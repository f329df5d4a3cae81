/* counter_read.h: instructions whose result comes from outside: rdtsc and rdtscp, which read the
 * time stamp counter, rdrand and rdseed, which read random numbers, and cpuid, which tells of the
 * processor: also which one it is, and some virtual machines move to other ones at any time.
 *
 * The kernel can make the first two fault (PR_SET_TSC), but on some virtual machines nothing faults
 * then; cpuid only on some processors. So all are replaced: an instruction faults in their place.
 */
#ifndef QUIPU_X86_COUNTER_READ_H
#define QUIPU_X86_COUNTER_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum {
    COUNTER_READ_MAX = 5 /* bytes of such an instruction */
};

/* What such an instruction gives. */
struct counter_value {
    uint64_t value;  /* of cpuid eax, and above it ebx */
    uint64_t detail; /* of rdtscp the processor; of rdrand and rdseed whether there was a number; of
                        cpuid ecx, and above it edx */
};

/* Returns the size of the instruction at the begin of the COUNT bytes at CODE if it is one of them
 * that this processor has, otherwise 0. */
unsigned counter_read_size(const uint8_t *code, size_t count);

/* Whether the kernel can make the instruction at CODE fault. */
bool is_time_read(const uint8_t *code, size_t count);

/* Returns the offset of the next bytes from FROM on that may be such an instruction, or COUNT. */
size_t find_counter_read(const uint8_t *code, size_t count, size_t from);

/* Whether the bytes at OFFSET are an instruction of the code that begins at CODE, and has only
 * instructions from there to OFFSET. */
bool is_instruction_at(const uint8_t *code, size_t count, size_t offset);

/* In place of the instruction, SIZE bytes at CODE, one faults by SIGILL. */
void replace_counter_read(uint8_t *code);

/* Reads what the instruction of SIZE bytes at CODE would give on this processor, with REGISTERS. */
struct counter_value read_counter(const uint8_t *code, unsigned size,
                                  const struct user_regs_struct *registers);

/* THREAD is stopped in place of the instruction of SIZE bytes at CODE. It goes on behind it, with
 * VALUE. Returns false if it is not one of them, or THREAD is gone. */
bool answer_counter_read(pid_t thread, const uint8_t *code, unsigned size,
                         const struct counter_value *value);

#endif
