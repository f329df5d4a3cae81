/* instructions.h: from the code of a block to its instructions, as the compiler made them. */
#ifndef QUIPU_DATA_INSTRUCTIONS_H
#define QUIPU_DATA_INSTRUCTIONS_H

#include "data/profile.h"

typedef VECTOR(struct instruction) instruction_vector;

/* Appends the instructions of BLOCK, decoded from the COUNT bytes at CODE, and sets the block's
 * range of them. FIRST has address, offset, fragment and block of the first instruction. The block
 * had SIZE bytes in the original. Returns false if the bytes are no such instructions. */
bool instructions_read(struct arena *arena, instruction_vector *instructions, struct block *block,
                       struct instruction first, const uint8_t *code, size_t count, uint32_t size);

#endif
