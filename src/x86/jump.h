/* jump.h: the jump that is written over an instruction of a program that runs. */
#ifndef QUIPU_X86_JUMP_H
#define QUIPU_X86_JUMP_H

#include <stddef.h>
#include <stdint.h>

/* Writes a jump to TEXT, from address FROM to address TO, which is less than 2 GiB away, over an
 * instruction of SIZE bytes, at least five; who decodes the text goes on with what follows that. */
void encode_jump(uint8_t *text, size_t size, uint64_t from, uint64_t to);

#endif
