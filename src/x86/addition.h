/* addition.h: the additions to cells that quipu inserts. */
#ifndef QUIPU_X86_ADDITION_H
#define QUIPU_X86_ADDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns what the instruction at CODE, of SIZE bytes, adds to a cell of 64 bits in memory; 0 if it
 * is no such addition. */
int64_t added_to_cell(const uint8_t *code, size_t size);

/* Whether that instruction leaves the carry flag as it is. */
bool keeps_carry(const uint8_t *code);

#endif
