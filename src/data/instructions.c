/* instructions.c: from the code of a block to its instructions; see instructions.h and
 * format/notes.h.
 *
 * The binary's instructions are the compiler's own. Only a direct jump, always the last instruction
 * of its block, may be longer than in the original. Its original size is the rest of the block's
 * original size. */
#include "data/instructions.h"

#include "x86/decode.h"

/* Returns the size of the instruction in the original. LEFT bytes of the original block remain. */
static uint32_t original_size(const struct decoded *decoded, bool padding, uint32_t left) {
    bool may_differ = decoded->class == CLASS_JUMP || decoded->class == CLASS_CONDITIONAL;
    return may_differ && !padding ? left : decoded->size;
}

bool instructions_read(struct arena *arena, instruction_vector *instructions, struct block *block,
                       struct instruction first, const uint8_t *code, size_t count, uint32_t size) {
    struct instruction next = first;
    bool jumped = false;
    block->first_instruction = (uint32_t)instructions->count;
    while (size) {
        struct decoded decoded;
        if (!decode_instruction(code, count, &decoded))
            return false;
        uint32_t original = original_size(&decoded, block->padding, size);
        if (original > size)
            return false;
        next.size = (uint8_t)original;
        vector_push(arena, instructions, next);
        block->jumped_over += jumped;
        jumped |= block->padding && decoded.class == CLASS_JUMP;
        next.offset += original;
        if (next.address)
            next.address += decoded.size;
        code += decoded.size;
        count -= decoded.size;
        size -= original;
    }
    block->instruction_count = (uint32_t)instructions->count - block->first_instruction;
    return true;
}
