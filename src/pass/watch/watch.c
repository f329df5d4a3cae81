/* watch.c: watched memory as a feature of the shim (Wahbe, Lucco and Graham 1993): checks of stores
 * and around calls (checks.c, calls.c), entries and ends of functions for watched locals
 * (frames.c), loops without checks (loops.c, ranges.c, far.c), and code behind whose calls nothing
 * is compared (unseen.c).
 *
 * requires: liveness with %r11 reserved; loops and tails unchanged, since copies have no checks */
#include "pass/watch/watch.h"

#include "x86/loop_check.h"
#include "x86/store_check.h"

static bool is_on(const struct pass_options *options) {
    return options->watch;
}

static void begin_unit(struct pass_state *state) {
    keep_unit_data(state, &watch_feature, ARENA_ARRAY(&state->unit->arena, struct watched_unit, 1));
    find_unseen_calls(state);
    if (state->options->shared) {
        start_before_init(state);
        find_interposed(state);
    }
}

/* Whether an instruction that stores or calls must stay at its label. Then no check can be inserted
 * before it, and no copy can replace it. */
static bool has_recorded_store(const struct graph *graph) {
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        if (!block->closed || block->padding)
            continue;
        const struct graph_instruction *first = &graph->instructions.data[block->first];
        const struct decoded *decoded = first->decoded;
        if (graph->unit->statements.data[first->first_statement].kept)
            continue; /* a profiler's call, which writes no memory of the program */
        if (decoded->store.kind != ACCESS_NONE || is_call_class(decoded->class))
            return true;
    }
    return false;
}

static const char *refuse(struct pass_state *state, struct graph *graph) {
    (void)state;
    return has_recorded_store(graph) ? "a store whose address is recorded cannot be checked" : NULL;
}

static void plan(struct planner *p) {
    keep_function_data(p, &watch_feature, ARENA_ARRAY(p->graph->arena, struct watched_function, 1));
    plan_loops(p);
}

static void insert_begin(struct planner *p, uint32_t index) {
    insert_early_start(p, index);
    insert_frame_begin(p, index);
}

static void insert_inside(struct planner *p, uint32_t index) {
    insert_checks(p, index);
    insert_loop_copy(p, index);
}

static void insert_end(struct planner *p, uint32_t index) {
    insert_frame_end(p, index);
    insert_call_checks(p, index);
}

static void declare_symbols(struct pass_state *state) {
    const struct watched_unit *unit = watched_unit(state);
    if (unit->watched)
        write_watch_symbols(&state->tail, state->options->shared);
    if (unit->starts_early)
        buffer_text(&state->tail, WATCH_INIT_NAME);
    if (unit->has_interposed)
        buffer_text(&state->tail, WATCH_EARLY_NAME);
    if (unit->copied)
        write_loop_symbols(&state->tail);
}

const struct feature watch_feature = {
    .name = "watch",
    .is_on = is_on,
    .needs = NEEDS_LOOPS | NEEDS_TAILS | NEEDS_SCRATCH | NEEDS_LAYOUT | NEEDS_ENDS,
    .begin_unit = begin_unit,
    .declare_symbols = declare_symbols,
    .prepare = refuse,
    .plan = plan,
    .insert_begin = insert_begin,
    .insert_inside = insert_inside,
    .insert_end = insert_end,
    .write_edge_begin = insert_frame_back,
    .write_edge_end = write_frame_end_on_edge,
    .end_fragment = end_out_of_line,
    .write_note = write_sites,
};
