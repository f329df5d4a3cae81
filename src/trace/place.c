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
    const struct piece *target =
        is_direct_jump(step->instruction->decoded.class) ? find_target(step) : NULL;
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
