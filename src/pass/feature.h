/* feature.h: what a feature hooks into the shim.
 *
 * A row each, in features.c.  instrument.c and insert.c run the hooks of the rows that are on, and
 * know no feature by name.  null/null.c is the example: it has every hook, and inserts nothing.
 *
 * Hooks run in the order of the rows, but for those that write code at blocks and edges: there the
 * last row comes first, so its code stands in front. */
#ifndef QUIPU_PASS_FEATURE_H
#define QUIPU_PASS_FEATURE_H

#include "pass/pass.h"

struct planner;

/* What the core does, or leaves, for a feature's sake. */
enum feature_needs {
    NEEDS_LOOPS = 1,   /* no loop is unrolled */
    NEEDS_TAILS = 2,   /* no end of a function is copied */
    NEEDS_SCRATCH = 4, /* liveness of registers that calls may change, in executables too */
    NEEDS_LAYOUT = 8,  /* jumps that reach past inserted code, loops aligned anew */
};

/* A hook that is NULL has nothing to do. */
struct feature {
    const char *name; /* as --quipu= has it */
    bool (*is_on)(const struct pass_options *options);
    bool (*is_asked)(const struct pass_options *options); /* by its name; NULL: as is_on */

    unsigned needs; /* enum feature_needs */

    /* For the unit.  requires: functions, found and measured. */
    void (*begin_unit)(struct pass_state *state);
    /* Once all functions are done: cells and tables, in front of the unit's note; */
    void (*end_unit)(struct pass_state *state);
    /* records behind that note; */
    void (*write_unit_records)(struct pass_state *state);
    /* symbols of the runtime, behind all. */
    void (*declare_symbols)(struct pass_state *state);

    /* For a function.  Why it must be left alone; NULL: it need not.  requires: a graph. */
    const char *(*refuse)(const struct graph *graph);
    /* Increments of blocks and edges.  requires: place_chords. */
    void (*count)(struct graph *graph, const struct pass_options *options);
    /* Whether the function must ask for the thread's cells wherever it is entered. */
    bool (*asks_at_begin)(const struct pass_state *state, const struct graph *graph);
    /* What is decided in front of all text.  requires: make_plan, find_positions. */
    void (*plan)(struct planner *p);
    /* What is told of function NUMBER, once its text is written. */
    void (*write_note)(struct planner *p, uint32_t number);

    /* Code of block INDEX: in front of all that is counted there, at its instructions, and behind
     * all that is counted.  maintains: all that insert.c maintains. */
    void (*insert_begin)(struct planner *p, uint32_t index);
    void (*insert_inside)(struct planner *p, uint32_t index);
    void (*insert_end)(struct planner *p, uint32_t index);
    /* Code of edge INDEX, appended to OUT: in front of what is counted there, and behind it. */
    void (*write_edge_begin)(struct planner *p, struct buffer *out, uint32_t index);
    void (*write_edge_end)(struct planner *p, struct buffer *out, uint32_t index);
    /* Behind all code out of line of a fragment. */
    void (*end_fragment)(struct planner *p);
};

extern const struct feature count_feature, event_feature, moment_feature, calls_feature,
    watch_feature, null_feature;

extern const struct feature *const features[FEATURES];

/* What FEATURE keeps of the unit, from begin_unit on, and of the function, from plan on. */
void keep_unit_data(struct pass_state *state, const struct feature *feature, void *data);
void *unit_data(const struct pass_state *state, const struct feature *feature);
void keep_function_data(struct planner *p, const struct feature *feature, void *data);
void *function_data(const struct planner *p, const struct feature *feature);

/* Notes in STATE which rows are on. */
void choose_features(struct pass_state *state);

/* What the rows that are on need, together. */
unsigned needs_of_features(const struct pass_state *state);

#define RUN_HOOKS(state, hook, ...)                                                                \
    for (size_t row_ = 0; row_ < (state)->on_count; row_++)                                        \
        if ((state)->on[row_]->hook)                                                               \
    (state)->on[row_]->hook(__VA_ARGS__)

/* The same for hooks that write code: last row first. */
#define RUN_CODE_HOOKS(state, hook, ...)                                                           \
    for (size_t row_ = (state)->on_count; row_-- > 0;)                                             \
        if ((state)->on[row_]->hook)                                                               \
    (state)->on[row_]->hook(__VA_ARGS__)

#endif
