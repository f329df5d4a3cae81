/* pieces.c: the stretches of a function's code between inserted code; see pieces.h. */
#include "pass/pieces.h"

#include "format/notes.h"

struct pieces number_pieces(const struct graph *graph, const struct placed_block *placed) {
    struct pieces pieces = {ARENA_ARRAY(graph->arena, uint32_t, graph->blocks.count + 1), 0};
    for (size_t i = 0; i < graph->blocks.count; i++) {
        pieces.first[i] = pieces.count;
        pieces.count += 1 + (uint32_t)placed[i].splits.count;
    }
    pieces.first[graph->blocks.count] = pieces.count;
    return pieces;
}

struct piece piece_at(const struct graph *graph, const struct basic_block *block,
                      const struct placed_block *placed, size_t piece) {
    struct piece found = {.from = piece ? placed->splits.data[piece - 1] : 0,
                          .to = piece < placed->splits.count ? placed->splits.data[piece]
                                                             : block->count,
                          .offset = block->offset,
                          .label = piece ? placed->split_labels.data[piece - 1] : placed->label};
    for (uint32_t i = 0; i < found.to; i++) {
        uint32_t bytes = graph->instructions.data[block->first + i].decoded->size;
        if (i < found.from)
            found.offset += bytes;
        else
            found.size += bytes;
    }
    return found;
}

uint32_t target_number(const struct graph *graph, const struct pieces *pieces, uint32_t end) {
    if (is_block(graph, end))
        return pieces->first[end - 1] + 1;
    return end ? pieces->count + end - (uint32_t)graph->blocks.count : 0;
}

uint32_t source_number(const struct graph *graph, const struct pieces *pieces, uint32_t end) {
    return is_block(graph, end) ? pieces->first[end] : target_number(graph, pieces, end);
}

void enter_function_notes(struct pass_state *state, const struct asm_function *function,
                          uint32_t number) {
    uint32_t section = function->fragments.data[0].section;
    uint32_t *linked = &state->linked[section];
    if (!*linked)
        *linked = number + 1;
    buffer_print(&state->tail,
                 "\t%s\n\t.section " QUIPU_FUNCTIONS_SECTION ",\"?o\",@progbits,.LQf%u_0\n",
                 state->unit->sections.data[section].directive, *linked - 1);
}
