/* jump.h: the jump that replaces an instruction of a running program.
 *
 * The runtime writes such jumps, too, so this file calls no library functions. */
#ifndef QUIPU_FORMAT_JUMP_H
#define QUIPU_FORMAT_JUMP_H

#include <stddef.h>
#include <stdint.h>

enum {
    X86_JUMP = 0xe9,   /* followed by the distance, from behind the jump */
    X86_JUMP_SIZE = 5, /* bytes */
    X86_NO_OPERATION = 0x90,
};

/* Writes a jump from address FROM to address TO, which is less than 2 GiB away, to TEXT. It
 * replaces an instruction of SIZE bytes, at least 5. No-operations fill the rest, so a decoder
 * continues with the next instruction. */
static inline void encode_jump(volatile uint8_t *text, size_t size, uint64_t from, uint64_t to) {
    uint32_t distance = (uint32_t)(to - from - X86_JUMP_SIZE);
    text[0] = X86_JUMP;
    for (int i = 1; i < X86_JUMP_SIZE; i++, distance >>= 8)
        text[i] = (uint8_t)distance;
    for (size_t i = X86_JUMP_SIZE; i < size; i++)
        text[i] = X86_NO_OPERATION;
}

#endif
