/* check.c: the graph's invariants, and its picture in text. */
#include "flow/graph.h"

#include "util/diag.h"
#include "util/terminal.h"

#include <stdio.h>

static void check_edges(const struct graph *graph) {
    uint32_t ends = 1 + (uint32_t)graph->blocks.count + graph->hub_count;
    for (uint32_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        CHECK(edge->source < ends && edge->target < ends);
        CHECK(!edge->chord || edge->countable);
        CHECK(edge->chord || !edge->increments.count);
        CHECK(edge->cell <= graph->cell_count);
    }
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        for (size_t i = 0; i < block->out.count; i++)
            CHECK(graph->edges.data[block->out.data[i]].source == b + 1);
        for (size_t i = 0; i < block->in.count; i++)
            CHECK(graph->edges.data[block->in.data[i]].target == b + 1);
    }
}

/* One terminator, at the end; sizes add up. */
static void check_blocks(const struct graph *graph) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        CHECK(block->out.count > 0);
        CHECK(block->padding == (block->count == 0));
        CHECK(block->countable || !block->chord);
        CHECK(block->chord || !block->increments.count);
        uint32_t size = 0;
        for (uint32_t i = 0; i < block->count; i++) {
            const struct decoded *decoded = graph->instructions.data[block->first + i].decoded;
            CHECK(i + 1 == block->count || decoded->class == CLASS_PLAIN);
            size += decoded->size;
        }
        CHECK(block->padding || size == block->size);
    }
}

void check_graph(const struct graph *graph) {
    check_edges(graph);
    check_blocks(graph);
}

void dump_graph(const struct graph *graph) {
    const struct unit *unit = graph->unit;
    const struct symbol *symbol = &unit->symbols.data[graph->function->symbol];
    print_line(stderr, "%.*s: %zu blocks, %zu edges, %u hubs, %u cells", (int)symbol->length,
               symbol->name, graph->blocks.count, graph->edges.count, graph->hub_count,
               graph->cell_count);
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        fprintf(stderr,
                "  block %zu: offset %#x, %u bytes, %u instructions, depth %u, frequency %g"
                ", cell %u, live %06x%s\n",
                b + 1, block->offset, block->size, block->count, block->loop_depth,
                block->frequency, block->cell, block->live_in, block->padding ? ", padding" : "");
        for (size_t i = 0; i < block->out.count; i++) {
            const struct edge *edge = &graph->edges.data[block->out.data[i]];
            fprintf(stderr, "    -> %u kind %d, frequency %g, cell %u\n", edge->target,
                    (int)edge->kind, edge->frequency, edge->cell);
        }
    }
}
