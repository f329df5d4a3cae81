/* jump.h: the jump that replaces an instruction of a running program.
 *
 * The runtime writes such jumps, too, so this file calls no library functions. */
#ifndef QUIPU_FORMAT_JUMP_H
#define QUIPU_FORMAT_JUMP_H

#include <stddef.h>
#include <stdint.h>

enum {
    X86_JUMP = 0xe9,            /* followed by the distance, from behind the jump */
    X86_JUMP_SIZE = 5,          /* bytes */
    X86_CONDITIONAL_OPCODE = 2, /* bytes of a conditional jump in front of its distance of four */
    X86_NO_OPERATION = 0x90,
};

enum {
    X86_DISTANCE_SIZE = 4 /* of a direct jump with a long distance: its last bytes */
};

/* Writes the distance of a jump to address TO, which is less than 2 GiB away, to TEXT: the jump's
 * last four bytes, at address AT. */
static inline void encode_distance(volatile uint8_t *text, uint64_t at, uint64_t to) {
    uint32_t distance = (uint32_t)(to - at - X86_DISTANCE_SIZE);
    for (int i = 0; i < X86_DISTANCE_SIZE; i++, distance >>= 8)
        text[i] = (uint8_t)distance;
}

/* Writes a jump from address FROM to address TO, which is less than 2 GiB away, to TEXT. It
 * replaces an instruction of SIZE bytes, at least 5. No-operations fill the rest, so a decoder
 * continues with the next instruction. */
static inline void encode_jump(volatile uint8_t *text, size_t size, uint64_t from, uint64_t to) {
    text[0] = X86_JUMP;
    encode_distance(text + 1, from + 1, to);
    for (size_t i = X86_JUMP_SIZE; i < size; i++)
        text[i] = X86_NO_OPERATION;
}

#endif
