/* feature.h: the hooks of a feature in the shim.
 *
 * Each feature is a row in features.c. instrument.c and insert.c run the hooks of the rows that are
 * on, and know no feature by name. null/null.c is the example: it has every hook, and inserts
 * nothing.
 *
 * Hooks run in the order of the rows. Hooks that write code run in the opposite order: the last row
 * comes first, so its code is in front. */
#ifndef QUIPU_PASS_FEATURE_H
#define QUIPU_PASS_FEATURE_H

#include "pass/pass.h"

struct planner;

/* What the core does, or does not do, because a feature needs it. */
enum feature_needs {
    NEEDS_LOOPS = 1,   /* no loop is unrolled */
    NEEDS_TAILS = 2,   /* no tail is copied */
    NEEDS_SCRATCH = 4, /* %r11 is reserved (find_liveness), in executables too */
    NEEDS_LAYOUT = 8,  /* jumps are made long enough for inserted code, loops are aligned again */
    NEEDS_ENDS = 16,   /* a label (.LQh) ends each fragment */
    NEEDS_LABELS = 32, /* labels at all pieces (pieces.h), even if nothing is counted in cells */
};

/* A hook that is NULL has nothing to do. */
struct feature {
    const char *name; /* as in --quipu= */
    bool (*is_on)(const struct pass_options *options);
    bool (*is_asked)(const struct pass_options *options); /* by its name; NULL: as is_on */

    unsigned needs; /* enum feature_needs */

    /* Hooks for the unit.
     * This one runs before all functions. requires: functions, found and measured. */
    void (*begin_unit)(struct pass_state *state);
    /* After all functions: writes cells and tables, in front of the unit's note. */
    void (*end_unit)(struct pass_state *state);
    /* Writes records behind that note. */
    void (*write_unit_records)(struct pass_state *state);
    /* Behind all else: declares symbols of the runtime. */
    void (*declare_symbols)(struct pass_state *state);

    /* Hooks for a function.
     * Returns why the function must be left alone, or NULL. Marks the blocks and edges that hold a
     * record anyway. requires: a graph. */
    const char *(*prepare)(struct pass_state *state, struct graph *graph);
    /* Makes the increments of blocks and edges. requires: place_chords. */
    void (*count)(struct graph *graph, const struct pass_options *options);
    /* Whether the feature's code at the function's entries makes sure that the thread has cells. */
    bool (*asks_at_begin)(const struct pass_state *state, const struct graph *graph);
    /* Decides what must be known before text is written. requires: make_plan, find_positions. */
    void (*plan)(struct planner *p);
    /* Writes notes and tables of function NUMBER, once its text is written. */
    void (*write_note)(struct planner *p, uint32_t number);

    /* Insert code of block INDEX: in front of all that is counted there, at its instructions, and
     * behind all that is counted. maintains: all that insert.c maintains. */
    void (*insert_begin)(struct planner *p, uint32_t index);
    void (*insert_inside)(struct planner *p, uint32_t index);
    void (*insert_end)(struct planner *p, uint32_t index);
    /* Append code of edge INDEX to OUT: in front of what is counted there, and behind it. */
    void (*write_edge_begin)(struct planner *p, struct buffer *out, uint32_t index);
    void (*write_edge_end)(struct planner *p, struct buffer *out, uint32_t index);
    /* Ends the features' code out of line of a fragment. The core's last stubs follow. */
    void (*end_fragment)(struct planner *p);
};

extern const struct feature count_feature, event_feature, moment_feature, calls_feature,
    watch_feature, trace_feature, null_feature;

extern const struct feature *const features[FEATURES];

/* Set and return the data of FEATURE: for the unit, from begin_unit on, and for the function, from
 * plan on. */
void keep_unit_data(struct pass_state *state, const struct feature *feature, void *data);
void *unit_data(const struct pass_state *state, const struct feature *feature);
void keep_function_data(struct planner *p, const struct feature *feature, void *data);
void *function_data(const struct planner *p, const struct feature *feature);

/* Records in STATE which rows are on. */
void choose_features(struct pass_state *state);

/* Returns all needs of the rows that are on: bits of enum feature_needs. */
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
