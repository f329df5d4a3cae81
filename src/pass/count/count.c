/* count.c: exact counts of every block and edge.
 *
 * Counting code between compiler and assembler (Weinberger 1984), on the chords of a spanning tree
 * (Ball 1994). Each chord gets a cell of the function. Readers compute the other counts from the
 * function's note (note.c, data/solve.c).
 *
 * requires: place_chords    makes: cell and increments of chords, cell_count */
#include "pass/count/count.h"

#include "util/diag.h"

static void add_cell(struct graph *graph, uint32_t *cell, increment_list *increments) {
    *cell = ++graph->cell_count;
    struct increment increment = {.space = CELLS_OF_FUNCTION, .cell = *cell, .amount = 1};
    vector_push(graph->arena, increments, increment);
}

/* Gives each chord a cell, in the order of the text, so that neighbours share cache lines. */
static void count_chords(struct graph *graph, const struct pass_options *options) {
    (void)options;
    for (size_t i = 0; i < graph->blocks.count; i++) {
        struct basic_block *block = &graph->blocks.data[i];
        if (block->chord)
            add_cell(graph, &block->cell, &block->increments);
        for (size_t e = 0; e < block->out.count; e++) {
            struct edge *edge = &graph->edges.data[block->out.data[e]];
            if (edge->chord)
                add_cell(graph, &edge->cell, &edge->increments);
        }
    }
}

static bool is_on(const struct pass_options *options) {
    return options->count;
}

const struct feature count_feature = {
    .name = "count",
    .is_on = is_on,
    .needs = NEEDS_LAYOUT,
    .count = count_chords,
    .write_note = write_function_note,
};
