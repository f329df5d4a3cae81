/* operand.h: the address to which an instruction of a traced thread has stored. */
#ifndef QUIPU_X86_OPERAND_H
#define QUIPU_X86_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* THREAD is stopped directly behind the instruction of COUNT bytes at CODE, which it ran at
 * ADDRESS. Sets [BEGIN, END) to the range of addresses that it has stored to. Returns false if the
 * range is no longer known, or if there are several. */
bool stored_range(const uint8_t *code, size_t count, uint64_t address, pid_t thread,
                  uint64_t *begin, uint64_t *end);

#endif
