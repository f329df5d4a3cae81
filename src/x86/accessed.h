/* accessed.h: the addresses that an instruction accesses, from the registers of a stopped thread.
 */
#ifndef QUIPU_X86_ACCESSED_H
#define QUIPU_X86_ACCESSED_H

#include "x86/access.h"
#include "x86/registers.h"

/* Is called for a part of memory: SIZE bytes at ADDRESS. */
typedef void take_part(void *context, uint64_t address, uint64_t size);

/* Calls TAKE for each part of memory that ACCESS accesses, upwards in the order of its elements.
 * REGISTERS are those in front of the instruction, with the vectors if a mask or scattered elements
 * need them; NEXT is the address behind it. Of a string instruction that repeats, it is the first
 * turn. */
void accessed_parts(const struct access *access, const struct registers *registers, uint64_t next,
                    take_part *take, void *context);

/* THREAD is stopped directly behind the instruction of COUNT bytes at CODE, which it ran at
 * ADDRESS. Sets [BEGIN, END) to the range of addresses that it has stored to. Returns false if the
 * range is no longer known, or if there are several. */
bool stored_range(const uint8_t *code, size_t count, uint64_t address, pid_t thread,
                  uint64_t *begin, uint64_t *end);

#endif
