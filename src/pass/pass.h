/* pass.h: options and state of the instrumentation of a unit, and what the files of the pass offer
 * each other.
 *
 * The pass gets a function's graph with all facts. It adds edits to the unit's text, and leaves a
 * note in the binary. */
#ifndef QUIPU_PASS_PASS_H
#define QUIPU_PASS_PASS_H

#include "asm/emit.h"
#include "flow/events.h"
#include "flow/graph.h"
#include "format/event.h"

struct pass_options {
    bool count;              /* executions of every instruction */
    struct event_set events; /* kinds of events that are counted */
    bool watch;              /* checks of stores */
    bool eliminate;          /* checks that are not needed yet are left out */
    bool calls;              /* a calling context tree; the events then include instructions */
    bool trace;              /* records of paths and addresses */
    bool null;               /* the example of a feature, which inserts nothing */
    enum placement placement;
    bool libc;     /* the C library is instrumented: its functions have records and checks */
    bool shared;   /* code may be linked into a shared object */
    uint32_t dump; /* stages whose facts are printed to standard error: a bit for each */
    const struct earlier_counts *earlier; /* NULL: frequencies are guessed */
};

/* Whether anything is counted in cells of threads. */
static inline bool counts_anything(const struct pass_options *options) {
    return options->count || options->events.count > 0;
}

/* The events that have happened, minus those in the cells; by kind of the set. */
struct event_sums {
    int32_t of[QUIPU_EVENTS];
    int32_t turns[QUIPU_EVENTS]; /* added to that, times %rcx */
};

enum {
    FEATURES = 7
};
struct feature;

/* One unit's instrumentation. */
struct pass_state {
    struct unit *unit;
    const struct pass_options *options;
    struct graph_index index;
    struct edit_list edits;
    struct buffer tail; /* cells and notes, which are appended to the unit's text */
    uint32_t labels;    /* counter of labels */
    bool instrumented;  /* a function is instrumented, and something is counted in it */
    bool *internal; /* by function: only code that has tested for the thread's cells enters it */
    bool unasked;   /* a function has no test, or is left alone: others must not rely on it */
    bool relies_on_checks; /* a call of a function of the unit has no query */
    uint32_t *named;       /* by symbol: number of the label that names a numeric label, or 0 */
    uint32_t *linked;  /* by section: 1 + the function that its notes are linked to; 0: none yet */
    bool *moved_files; /* by number: its .file was moved up */
    const struct feature *on[FEATURES]; /* the features of this unit, in the order of their rows */
    size_t on_count;
    void *data[FEATURES]; /* data of the features: see unit_data */
};

/* insert.c: inserts the code of all increments, and runs the features' hooks for the function.
 * requires: increments   maintains: all that the program can observe   breaks: see insert.c */
void insert_increments(struct pass_state *state, const struct graph *graph, uint32_t number);

/* entries.c: finds the functions that need not test whether the thread has cells.
 * requires: measure_unit   makes: internal */
void find_internal(struct pass_state *state);

/* A block after insertion. Inserted code inside the block divides it into pieces, which the notes
 * describe as blocks of their own. */
struct placed_block {
    uint32_t label;    /* number of the label at its first instruction */
    index_list splits; /* instructions behind inserted code, in order; not 0 */
    index_list split_labels;
    bool turned; /* its conditional jump is inverted in the text */
};

/* A query anchor: a position in the text, the sums that apply there, and the original instructions
 * that follow it directly. */
struct query_anchor {
    const char *label;
    uint8_t fragment;
    struct event_sums sums;
    uint32_t block;        /* that contains these instructions */
    uint32_t first, count; /* instructions */
};
typedef VECTOR(struct query_anchor) anchor_list;

/* notes.c: switches to section NAME, for rows about fragment F, in the group of the fragment's
 * section. Returns the number of a label (.LQr) there. A relocation at the fragment, which changes
 * nothing, makes the linker keep the section if it keeps the fragment. It is at the fragment, since
 * gold accepts none in an empty section. */
uint32_t enter_rows(struct pass_state *state, const struct asm_function *function, uint32_t number,
                    size_t f, const char *name);

/* notes.c: write the note of the unit, and the note of a function that is left alone. */
void write_left_alone_note(struct pass_state *state, const struct asm_function *function);
void write_unit_note(struct pass_state *state, const char *version);

/* provoke.c: for tests: causes the fault that $QUIPU_FAULT requests in this function; NULL: in the
 * whole unit. */
void provoke_fault(struct pass_state *state, const struct asm_function *function);

/* Makes the results of STAGE in GRAPH wrong if $QUIPU_FAULT requests it. */
void provoke_stage_fault(const struct pass_state *state, struct graph *graph, const char *stage);

/* Returns the name of the function's symbol, in ARENA. */
const char *function_name(struct arena *arena, const struct unit *unit,
                          const struct asm_function *function);

#endif
