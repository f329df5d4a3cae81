/* same_code.h: whether two binaries have the same instruction, apart from the addresses in it. */
#ifndef QUIPU_X86_SAME_CODE_H
#define QUIPU_X86_SAME_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers that can be addresses in the code of a binary. */
struct code_addresses {
    bool fixed;           /* the code may contain addresses from `begin` to `end` */
    uint64_t begin, end;  /* of the binary, as linked */
    uint64_t thread_size; /* bytes of its thread-local variables; the code has offsets of them */
};

/* An instruction in a binary. */
struct placed_code {
    const uint8_t *code;
    size_t count; /* bytes from there that can be read */
    const struct code_addresses *addresses;
};

/* Whether A and B begin with the same instruction: the same operation with the same operands.
 *
 * These may differ: the distance of a direct jump or call, and its size in bytes; the condition of
 * a conditional jump, which may be the inverse if TURNS; the distance in an operand relative to the
 * instruction; numbers of 32 or 64 bits that are addresses or offsets of thread-local variables in
 * each binary; and whether the linker has replaced a load from the global offset table, as it does
 * if the symbol is in the same binary.
 *
 * Sets SIZES to the sizes of both. Returns false if one of them is no instruction. */
bool is_same_instruction(const struct placed_code *a, const struct placed_code *b, bool turns,
                         uint8_t sizes[2]);

#endif
