/* dump.c: prints the facts of a graph; see check.h. */
#include "flow/check.h"

#include <string.h>

static const char *const edge_names[] = {
    [QUIPU_EDGE_ENTRY] = "entry",         [QUIPU_EDGE_PAD] = "landing pad",
    [QUIPU_EDGE_FALL] = "falls",          [QUIPU_EDGE_JUMP] = "jump",
    [QUIPU_EDGE_TAKEN] = "taken",         [QUIPU_EDGE_NOT_TAKEN] = "not taken",
    [QUIPU_EDGE_INDIRECT] = "indirect",   [QUIPU_EDGE_CALL] = "call returns",
    [QUIPU_EDGE_CALL_LOST] = "call ends", [QUIPU_EDGE_RETURN] = "return",
    [QUIPU_EDGE_TAIL] = "tail call",      [QUIPU_EDGE_STOP] = "stops",
};

void dump_shape(const struct graph *graph, FILE *out) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        fprintf(out, "  block %zu: fragment %u, offset %#x, %u bytes, %u instructions%s%s\n", b + 1,
                block->fragment, block->offset, block->size, block->count,
                block->padding ? ", padding" : "", block->countable ? "" : ", closed");
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        fprintf(out, "  edge %u -> %u: %s%s\n", edge->source, edge->target, edge_names[edge->kind],
                edge->countable ? "" : ", closed");
    }
}

void dump_frequencies(const struct graph *graph, FILE *out) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        fprintf(out, "  block %zu: frequency %g, loop depth %u\n", b + 1, block->frequency,
                block->loop_depth);
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        fprintf(out, "  edge %u -> %u: frequency %g\n", edge->source, edge->target,
                edge->frequency);
    }
}

void dump_copies(const struct graph *graph, FILE *out) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        if (block->copy_of)
            fprintf(out, "  block %zu: copy of block %u\n", b + 1, block->copy_of);
        if (block->turns_to)
            fprintf(out, "  block %zu: ends a loop that begins with block %u, and has copies\n",
                    b + 1, block->turns_to);
    }
}

void dump_tails(const struct graph *graph, FILE *out) {
    for (size_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.data[b].tail)
            fprintf(out, "  block %zu: tail\n", b + 1);
}

/* Prints a set such as " rax rcx, flags CZ". */
static void dump_set(FILE *out, uint32_t live) {
    static const char flags[] = "CPAZSO";
    for (int number = 0; number < 16; number++)
        if (live >> number & 1)
            fprintf(out, " %s", register_name(number));
    if (live >> 16)
        fputs(", flags ", out);
    for (size_t i = 0; i < strlen(flags); i++)
        if (live >> (16 + i) & 1)
            fputc(flags[i], out);
}

void dump_liveness(const struct graph *graph, FILE *out) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        fprintf(out, "  block %zu: live in", b + 1);
        dump_set(out, graph->blocks.data[b].live_in);
        fputs("; live out", out);
        dump_set(out, graph->blocks.data[b].live_out);
        fputc('\n', out);
    }
}

void dump_tree(const struct graph *graph, FILE *out) {
    for (size_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.data[b].chord)
            fprintf(out, "  block %zu: chord\n", b + 1);
    for (size_t i = 0; i < graph->edges.count; i++)
        if (graph->edges.data[i].chord)
            fprintf(out, "  edge %u -> %u: chord\n", graph->edges.data[i].source,
                    graph->edges.data[i].target);
}

static void dump_increments(FILE *out, const increment_list *increments) {
    static const char *const spaces[] = {[CELLS_OF_FUNCTION] = "cell", [CELLS_OF_EVENTS] = "event"};
    for (size_t i = 0; i < increments->count; i++) {
        const struct increment *increment = &increments->data[i];
        fprintf(out, "%s %s %u by %d", i ? "," : "", spaces[increment->space], increment->cell,
                increment->amount);
    }
    fputc('\n', out);
}

void dump_counters(const struct graph *graph, FILE *out) {
    for (size_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.data[b].increments.count) {
            fprintf(out, "  block %zu:", b + 1);
            dump_increments(out, &graph->blocks.data[b].increments);
        }
    for (size_t i = 0; i < graph->edges.count; i++)
        if (graph->edges.data[i].increments.count) {
            fprintf(out, "  edge %u -> %u:", graph->edges.data[i].source,
                    graph->edges.data[i].target);
            dump_increments(out, &graph->edges.data[i].increments);
        }
}
