/* pass.h: what is inserted, one file each.
 *
 * A pass gets a function's graph with all facts, adds edits to the unit's text, and leaves a note
 * in the binary. */
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
    bool eliminate;          /* those are left out that are not needed yet */
    bool calls;              /* a calling context tree; instructions are among the events */
    bool null;               /* nothing: the example of a feature */
    enum placement placement;
    bool shared;                          /* code may be linked into a shared object */
    uint32_t dump;                        /* stages whose facts go to standard error, as bits */
    const struct earlier_counts *earlier; /* NULL: frequencies are guessed */
};

/* Whether anything is counted, for which a thread has cells. */
static inline bool counts_anything(const struct pass_options *options) {
    return options->count || options->events.count > 0;
}

/* What has happened above what the cells hold, by kind of the set. */
struct event_sums {
    int32_t of[QUIPU_EVENTS];
    int32_t turns[QUIPU_EVENTS]; /* times %rcx, besides */
};

enum {
    FEATURES = 6
};
struct feature;

/* One unit's instrumentation. */
struct pass_state {
    struct unit *unit;
    const struct pass_options *options;
    struct graph_index index;
    struct edit_list edits;
    struct buffer tail; /* cells and notes: goes behind the unit's text */
    uint32_t labels;    /* counter of labels */
    bool instrumented;  /* some function was, and is counted */
    bool *internal;     /* by function: only code that has asked for the thread's cells enters it */
    bool unasked;       /* some function that others rely on cannot ask, or is left alone */
    uint32_t *named;    /* by symbol: number of the name that a numeric label was given, or 0 */
    uint32_t *linked;   /* by section: 1 + the function that its notes are linked to; 0: none yet */
    bool *moved_files;  /* by number: its .file was moved up */
    const struct feature *on[FEATURES]; /* the features of this unit, in the order of their rows */
    size_t on_count;
    void *data[FEATURES]; /* what features keep: unit_data */
};

/* pass/insert.c: the code of all increments.
 * requires: increments   maintains: all that the program can see   breaks: nothing */
void insert_increments(struct pass_state *state, const struct graph *graph, uint32_t number);

/* pass/entries.c: which functions need not ask whether the thread has cells.
 * requires: measure_unit   makes: internal */
void find_internal(struct pass_state *state);

/* Where code was put into blocks: a block is told as several where code stands inside of it. */
struct placed_block {
    uint32_t label;    /* number of the label at its first instruction */
    index_list splits; /* instructions that have inserted code in front of them, in order */
    index_list split_labels;
    bool turned; /* in the text its conditional jump has the opposite condition */
};

/* A place in the text, what holds there, and the instructions of the original that follow, one
 * behind the other. */
struct query_anchor {
    const char *label;
    uint8_t fragment;
    struct event_sums sums;
    uint32_t block;        /* whose instructions they are */
    uint32_t first, count; /* instructions */
};
typedef VECTOR(struct query_anchor) anchor_list;

/* rows.c: enters section NAME for what is told of fragment F, in that one's group, and returns the
 * number of a label (.LQr) there.  A relocation at the fragment, which changes nothing, keeps it in
 * the link: there, since gold takes none in a section that is empty. */
uint32_t enter_rows(struct pass_state *state, const struct asm_function *function, uint32_t number,
                    size_t f, const char *name);

/* notes.c: what the unit is, and what was left alone. */
void write_left_alone_note(struct pass_state *state, const struct asm_function *function);
void write_unit_note(struct pass_state *state, const char *version);

/* provoke.c: makes the fault that $QUIPU_FAULT wants of this function, or where it is NULL of the
 * whole unit, for tests. */
void provoke_fault(struct pass_state *state, const struct asm_function *function);

/* Breaks what STAGE has found out about GRAPH, where $QUIPU_FAULT wants that. */
void provoke_stage_fault(const struct pass_state *state, struct graph *graph, const char *stage);

/* The function's symbol, in ARENA. */
const char *function_name(struct arena *arena, const struct unit *unit,
                          const struct asm_function *function);

#endif
