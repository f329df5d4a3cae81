/* null.c: the example of a feature. It has every hook but `is_asked`, and inserts nothing: the
 * object is that of the compiler's text, except for a note of the unit.
 *
 * A new feature begins as a copy of this file. It also needs: its row in features.c, with FEATURES
 * in pass.h and the declaration in feature.h; a member of struct pass_options; its mode in
 * cmd/options.h and options.c, which assemble.c passes on; the help in cmd/cc.c, the manual page
 * and completions/quipu; its folder in scripts/check-includes.
 *
 * requires: nothing   maintains: everything   breaks: nothing */
#include "pass/feature.h"

#include "pass/plan.h"

static bool is_on(const struct pass_options *options) {
    return options->null;
}

static void do_unit(struct pass_state *state) {
    (void)state;
}

static const char *prepare(struct pass_state *state, struct graph *graph) {
    (void)state;
    (void)graph;
    return NULL;
}

static void count(struct graph *graph, const struct pass_options *options) {
    (void)graph;
    (void)options;
}

static bool asks_at_begin(const struct pass_state *state, const struct graph *graph) {
    (void)state;
    (void)graph;
    return false;
}

static void do_function(struct planner *p) {
    (void)p;
}

static void do_block(struct planner *p, uint32_t index) {
    (void)p;
    (void)index;
}

static void do_edge(struct planner *p, struct buffer *out, uint32_t index) {
    (void)p;
    (void)out;
    (void)index;
}

const struct feature null_feature = {
    .name = "null",
    .is_on = is_on,
    .needs = NEEDS_LOOPS | NEEDS_TAILS | NEEDS_SCRATCH,
    .begin_unit = do_unit,
    .end_unit = do_unit,
    .write_unit_records = do_unit,
    .declare_symbols = do_unit,
    .prepare = prepare,
    .count = count,
    .asks_at_begin = asks_at_begin,
    .plan = do_function,
    .write_note = do_block,
    .insert_begin = do_block,
    .insert_inside = do_block,
    .insert_end = do_block,
    .write_edge_begin = do_edge,
    .write_edge_end = do_edge,
    .end_fragment = do_function,
};
