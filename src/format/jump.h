/* jump.h: the jump that is written over an instruction of a program that runs.
 *
 * The runtime writes them, too, so nothing of a library is called here. */
#ifndef QUIPU_FORMAT_JUMP_H
#define QUIPU_FORMAT_JUMP_H

#include <stddef.h>
#include <stdint.h>

enum {
    X86_JUMP = 0xe9,   /* and the distance, from behind it */
    X86_JUMP_SIZE = 5, /* bytes */
    X86_NO_OPERATION = 0x90,
};

/* Writes a jump to TEXT, from address FROM to address TO, which is less than 2 GiB away, over an
 * instruction of SIZE bytes, at least five; who decodes the text goes on with what follows that. */
static inline void encode_jump(volatile uint8_t *text, size_t size, uint64_t from, uint64_t to) {
    uint32_t distance = (uint32_t)(to - from - X86_JUMP_SIZE);
    text[0] = X86_JUMP;
    for (int i = 1; i < X86_JUMP_SIZE; i++, distance >>= 8)
        text[i] = (uint8_t)distance;
    for (size_t i = X86_JUMP_SIZE; i < size; i++)
        text[i] = X86_NO_OPERATION;
}

#endif
