/* stages.c: the stages between a function's graph and its text; see stages.h. */
#include "pass/stages.h"

#include "flow/check.h"
#include "pass/feature.h"
#include "util/fault.h"
#include "util/terminal.h"

#include <stdlib.h>

static void keep_graph(struct pass_state *state, struct graph *graph) {
    (void)state; /* build_graph has made it; if it fails, no stage runs */
    (void)graph;
}

static void run_frequencies(struct pass_state *state, struct graph *graph) {
    find_frequencies(graph, state->options->earlier);
}

static void run_loops(struct pass_state *state, struct graph *graph) {
    if (!(needs_of_features(state) & NEEDS_LOOPS))
        unroll_loops(graph);
}

static void run_tails(struct pass_state *state, struct graph *graph) {
    if (!(needs_of_features(state) & NEEDS_TAILS))
        find_tails(graph);
}

static void run_liveness(struct pass_state *state, struct graph *graph) {
    bool reserves = state->options->shared || needs_of_features(state) & NEEDS_SCRATCH;
    find_liveness(graph, reserves ? RESERVED_REGISTERS : 0);
}

static void run_tree(struct pass_state *state, struct graph *graph) {
    place_chords(graph, state->options->placement);
}

static void run_counters(struct pass_state *state, struct graph *graph) {
    RUN_HOOKS(state, count, graph, state->options);
}

static const struct stage {
    const char *name;
    void (*run)(struct pass_state *state, struct graph *graph);
    void (*check)(const struct graph *graph);
    void (*dump)(const struct graph *graph, FILE *out);
} stages[] = {
    {"graph", keep_graph, check_shape, dump_shape},
    {"frequencies", run_frequencies, check_frequencies, dump_frequencies},
    {"loops", run_loops, check_copies, dump_copies},
    {"tails", run_tails, check_tails, dump_tails},
    {"liveness", run_liveness, check_liveness, dump_liveness},
    {"tree", run_tree, check_tree, dump_tree},
    {"counters", run_counters, check_counters, dump_counters},
};

enum {
    STAGES = sizeof stages / sizeof *stages
};

const char *stage_name(unsigned number) {
    return number < STAGES ? stages[number].name : NULL;
}

static void check_until(const struct graph *graph, size_t last) {
    for (size_t i = 0; i <= last; i++)
        stages[i].check(graph);
}

static void dump_stage(const struct graph *graph, const struct stage *stage) {
    const struct symbol *symbol = &graph->unit->symbols.data[graph->function->symbol];
    print_line(stderr, "%.*s: %s: %zu blocks, %zu edges, %u hubs, %u cells", (int)symbol->length,
               symbol->name, stage->name, graph->blocks.count, graph->edges.count, graph->hub_count,
               graph->cell_count);
    stage->dump(graph, stderr);
}

void run_stages(struct pass_state *state, struct graph *graph) {
    bool strict = getenv("QUIPU_STRICT");
    for (size_t i = 0; i < STAGES; i++) {
        fault_stage(stages[i].name);
        stages[i].run(state, graph);
        provoke_stage_fault(state, graph, stages[i].name);
        if (strict || i + 1 == STAGES)
            check_until(graph, i);
        if (state->options->dump >> i & 1)
            dump_stage(graph, &stages[i]);
    }
    fault_stage("text");
}
