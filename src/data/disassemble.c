/* disassemble.c: instructions as text, as they were in the original; see profile.h.
 *
 * The flow graph has the target of a jump within the function, since in this binary the jump may
 * lead to inserted code. The symbol table has the names of all other addresses. */
#include "data/profile.h"
#include "format/notes.h"

#include "symbols/binary.h"
#include "x86/decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *fragment_name(const struct function *function, uint32_t fragment) {
    if (fragment == 0 || fragment >= function->fragment_count)
        return function->name;
    const char *name = binary_symbol(function->module->binary, function->fragments[fragment]);
    return name ? name : function->name;
}

static void print_place(const struct function *function, uint32_t fragment, uint32_t offset,
                        char *text, size_t size) {
    const char *name = fragment_name(function, fragment);
    if (offset)
        snprintf(text, size, "%s+0x%" PRIx32, name, offset);
    else
        snprintf(text, size, "%s", name);
}

void instruction_place(const struct function *function, const struct instruction *instruction,
                       char *text, size_t size) {
    print_place(function, instruction->fragment, instruction->offset, text, size);
}

/* Returns the block that a direct jump at the end of BLOCK leads to, or NULL if that is outside of
 * the function. */
static const struct block *find_target(const struct function *function, const struct block *block) {
    for (size_t i = 0; i < block->edge_count; i++) {
        const struct flow_edge *edge = &function->edges[block->first_edge + i];
        if ((edge->kind == QUIPU_EDGE_TAKEN || edge->kind == QUIPU_EDGE_JUMP) && edge->target &&
            edge->target <= function->block_count)
            return &function->blocks[edge->target - 1];
    }
    return NULL;
}

/* Where the names of addresses in the text come from. */
struct naming {
    const struct function *function;
    const struct block *target; /* of the current jump; NULL: not within the function */
};

static bool name_operand(void *context, uint64_t address, char *text, size_t size) {
    const struct naming *naming = context;
    const struct function *function = naming->function;
    if (naming->target && naming->target->first_instruction < function->instruction_count) {
        const struct instruction *first =
            &function->instructions[naming->target->first_instruction];
        instruction_place(function, first, text, size);
        return true;
    }
    return binary_name(function->module->binary, address, text, size);
}

enum {
    INSTRUCTION_SIZE_MAX = 15
};

static bool is_last(const struct function *function, const struct block *block,
                    const struct instruction *instruction) {
    return instruction - function->instructions ==
           block->first_instruction + (ptrdiff_t)block->instruction_count - 1;
}

void instruction_text(const struct function *function, const struct instruction *instruction,
                      char *text, size_t size) {
    const struct block *block = &function->blocks[instruction->block];
    const struct instruction *first = &function->instructions[block->first_instruction];
    const uint8_t *code;
    size_t count = instruction->size;
    if (block->padding)
        code = block->bytes + (instruction->offset - first->offset);
    else
        code = binary_code(function->module->binary, instruction->address, &count);
    struct decoded decoded;
    struct naming naming = {.function = function};
    uint8_t turned[INSTRUCTION_SIZE_MAX];
    if (code && block->turned && is_last(function, block, instruction) &&
        decode_instruction(code, count, &decoded)) {
        memcpy(turned, code, decoded.size);
        invert_conditional(turned, decoded.size);
        code = turned;
        count = decoded.size;
    }
    if (!code || !decode_instruction(code, count, &decoded)) { /* profile_open decoded it before */
        snprintf(text, size, "(bad)");
        return;
    }
    if (!block->padding && (decoded.class == CLASS_JUMP || decoded.class == CLASS_CONDITIONAL ||
                            decoded.class == CLASS_CONDITIONAL_NEAR))
        naming.target = find_target(function, block);
    if (!disassemble_instruction(code, count, instruction->address, text, size, name_operand,
                                 &naming))
        snprintf(text, size, "(bad)");
}
