/* accessed.h: the addresses that an instruction accesses, from the registers of a stopped thread.
 */
#ifndef QUIPU_X86_ACCESSED_H
#define QUIPU_X86_ACCESSED_H

#include "x86/access.h"
#include "x86/registers.h"

/* Is called for a part of memory: SIZE bytes at ADDRESS. */
typedef void take_part(void *context, uint64_t address, uint64_t size);

/* The values that the addresses of an access depend on, in front of the instruction. */
struct access_values {
    struct user_regs_struct general;
    uint8_t indices[VECTOR_BYTES]; /* of ACCESS_SCATTERED */
    uint8_t signs[VECTOR_BYTES];   /* a vector that is a mask */
    uint64_t bits;                 /* a mask register */
    size_t state_size;             /* bytes of the processor's state, for ACCESS_STATE */
};

/* Returns those of ACCESS in REGISTERS. */
struct access_values access_values(const struct access *access, const struct registers *registers);

/* Calls TAKE for each part of memory that ACCESS accesses, upwards in the order of its elements.
 * NEXT is the address behind the instruction. Of a string instruction that repeats, it is the first
 * turn. */
void accessed_parts(const struct access *access, const struct access_values *values, uint64_t next,
                    take_part *take, void *context);

/* THREAD is stopped directly behind the instruction of COUNT bytes at CODE, which it ran at
 * ADDRESS. Sets [BEGIN, END) to the range of addresses that it has stored to. Returns false if the
 * range is no longer known, or if there are several. */
bool stored_range(const uint8_t *code, size_t count, uint64_t address, pid_t thread,
                  uint64_t *begin, uint64_t *end);

#endif
