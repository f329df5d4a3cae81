/* lanes.c: chooses the cell of its kind that each addition uses.
 *
 * An addition waits for the previous one to the same cell. So the most frequent additions get cells
 * of their own, as long as there are enough. Which cells come first differs from function to
 * function.
 * Not perfect: functions that call each other may have hot additions in one cell.
 *
 * requires: count_events, find_frequencies   makes: lane of increments */
#include "pass/event/event.h"

#include "util/map.h"

#include <stdlib.h>

struct addition {
    struct increment *increment;
    double frequency;
    size_t order;
};
typedef VECTOR(struct addition) addition_list;

static void collect(const struct graph *graph, uint32_t cell, increment_list *increments,
                    double frequency, addition_list *additions) {
    for (size_t i = 0; i < increments->count; i++) {
        struct increment *increment = &increments->data[i];
        if (increment->space == CELLS_OF_EVENTS && increment->cell == cell) {
            struct addition addition = {increment, frequency, additions->count};
            vector_push(graph->arena, additions, addition);
        }
    }
}

/* Puts the most frequent addition first. */
static int compare_additions(const void *left, const void *right) {
    const struct addition *a = left, *b = right;
    if (a->frequency != b->frequency)
        return a->frequency > b->frequency ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void choose_lanes(struct graph *graph, uint32_t cell, uint32_t lane_count) {
    addition_list additions = {0};
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        struct basic_block *block = &graph->blocks.data[i];
        collect(graph, cell, &block->increments, block->frequency, &additions);
        for (size_t e = 0; e < block->out.count; e++) {
            struct edge *edge = &graph->edges.data[block->out.data[e]];
            collect(graph, cell, &edge->increments, edge->frequency, &additions);
        }
    }
    const struct symbol *name = &graph->unit->symbols.data[graph->function->symbol];
    uint32_t first = hash_text(name->name, name->length);
    if (additions.count)
        qsort(additions.data, additions.count, sizeof *additions.data, compare_additions);
    for (size_t i = 0; i < additions.count; i++)
        additions.data[i].increment->lane = (uint8_t)((first + i) % lane_count);
}
