/* operand.h: where an instruction of a traced thread has stored. */
#ifndef QUIPU_X86_OPERAND_H
#define QUIPU_X86_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* THREAD stands right behind the instruction of COUNT bytes at CODE, which it ran at ADDRESS.  Sets
 * the range of addresses, up to but without END, that it has stored to.  Returns false where that
 * cannot be told any more, or are several. */
bool stored_range(const uint8_t *code, size_t count, uint64_t address, pid_t thread,
                  uint64_t *begin, uint64_t *end);

#endif
