/* place.c: where an instruction is; see place.h. */
#include "trace/place.h"

#include "format/notes.h"
#include "symbols/binary.h"
#include "symbols/line_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_MAX = 512 /* of an instruction; a longer name in it is cut */
};

static const char *fragment_name(const struct traced_function *function, uint8_t fragment) {
    const char *name = NULL;
    if (fragment)
        name = binary_symbol(function->module->binary, function->fragments[fragment]);
    return name ? name : function->name;
}

struct step_place find_step_function(const struct trace_step *step) {
    const struct piece *piece = step->piece;
    struct step_place place = {.function = fragment_name(step->function, piece->fragment),
                               .file = ""};
    uint64_t begin = piece->shown ? piece->shown : piece->address;
    place.offset = piece->offset + (uint32_t)(step->instruction->shown - begin);
    return place;
}

struct step_place find_step_place(const struct trace_step *step) {
    struct step_place place = find_step_function(step);
    const struct line_table *lines = binary_lines(step->function->module->binary);
    const struct line_row *row = line_table_find(lines, step->instruction->address);
    if (row) {
        place.file = *vector_at(&lines->files, row->file);
        place.line = row->line;
    }
    return place;
}

/* Returns the piece that a direct jump at the end of the step's piece leads to, or NULL if that is
 * outside of the function. */
static const struct piece *find_target(const struct trace_step *step) {
    const struct traced_function *function = step->function;
    for (uint32_t i = 0; i < step->piece->edge_count; i++) {
        const struct path_edge *edge = &function->edges[step->piece->first_edge + i];
        if ((edge->kind == QUIPU_EDGE_TAKEN || edge->kind == QUIPU_EDGE_JUMP) && edge->target &&
            edge->target <= function->piece_count)
            return &function->pieces[edge->target - 1];
    }
    return NULL;
}

/* Whether ADDRESS is in FUNCTION's text, inserted code included. */
static bool is_inside(const struct traced_function *function, uint64_t address) {
    const struct symbol *symbol = binary_function(function->module->binary, address);
    bool inside = symbol && symbol->address == function->address;
    for (uint32_t i = 1; symbol && i < function->fragment_count; i++)
        inside |= symbol->address == function->fragments[i];
    return inside;
}

uint64_t jump_target(const struct traced_function *function, uint64_t address) {
    enum {
        FOLLOWED_MOST = 64 /* instructions */
    };
    uint64_t at = address;
    bool inside = is_inside(function, at);
    for (int i = 0; inside && i < FOLLOWED_MOST; i++) {
        size_t left;
        struct decoded decoded;
        const uint8_t *code = binary_code(function->module->binary, at, &left);
        if (!code || !decode_instruction(code, left, &decoded))
            return address;
        at += decoded.size;
        if (decoded.class != CLASS_JUMP)
            continue;
        at += (uint64_t)jump_distance(code);
        inside = is_inside(function, at);
    }
    return inside ? address : at;
}

static bool is_direct_jump(uint8_t class) {
    return class == CLASS_JUMP || class == CLASS_CONDITIONAL || class == CLASS_CONDITIONAL_NEAR;
}

/* Returns the binary that has the step's instruction as it is shown. */
static const struct binary *shown_binary(const struct trace_step *step) {
    const struct traced_module *module = step->function->module;
    return step->piece->shown ? module->layout : module->binary;
}

static bool name_operand(void *context, uint64_t address, char *text, size_t size) {
    const struct trace_step *step = context;
    bool jumps = is_direct_jump(step->instruction->decoded.class);
    const struct piece *target = jumps ? find_target(step) : NULL;
    if (!target && jumps && !step->piece->shown)
        address = jump_target(step->function, address);
    if (!target)
        return binary_name(shown_binary(step), address, text, size);
    snprintf(text, size, "%s+0x%" PRIx32, fragment_name(step->function, target->fragment),
             target->offset);
    return true;
}

const uint8_t *step_code(const struct trace_step *step, size_t *count) {
    return binary_code(shown_binary(step), step->instruction->shown, count);
}

const char *step_text(struct arena *arena, const struct trace_step *step) {
    size_t count;
    char text[TEXT_MAX];
    struct trace_step copy = *step;
    const uint8_t *code = step_code(step, &count);
    if (!code || !disassemble_instruction(code, count, step->instruction->shown, text, sizeof text,
                                          name_operand, &copy))
        return "(bad)";
    return arena_copy(arena, text, strlen(text));
}
