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
    enum placement placement;
    bool shared;                          /* code may be linked into a shared object */
    bool dump;                            /* graphs to standard error */
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

/* One unit's instrumentation. */
struct pass_state {
    struct unit *unit;
    const struct pass_options *options;
    struct edit_list edits;
    struct buffer tail; /* cells and notes: goes behind the unit's text */
    uint32_t labels;    /* counter of labels */
    bool instrumented;  /* some function was, and is counted */
    bool watched;       /* some store has a check */
    bool copied;        /* some loop has a copy without checks */
    bool starts_early;  /* some code runs before the module's constructors */
    bool *internal;     /* by function: only code that has asked for the thread's cells enters it */
    bool unasked;       /* some function that others rely on cannot ask, or is left alone */
    uint32_t *named;    /* by symbol: number of the name that a numeric label was given, or 0 */
    uint32_t *linked;   /* by section: 1 + the function that its notes are linked to; 0: none yet */
    bool *moved_files;  /* by number: its .file was moved up */
    bool *handlers;     /* by function: it may be called by the kernel, and notes it */
    /* queries.c */
    VECTOR(struct event_sums) weights; /* of instructions, without repetition */
};

/* pass/count.c: exact counts of every block and edge (Weinberger 1984, on Ball's chords).
 * requires: place_chords   makes: cell and increments of chords, cell_count */
void count_chords(struct graph *graph);

/* pass/event.c: one counter for each kind of event (Ball 1994).
 * requires: place_chords, a graph whose calls are queries   makes: increments, potentials */
void count_events(struct graph *graph, const struct pass_options *options);

/* pass/lanes.c: which of its kind's first LANE_COUNT cells each addition to CELL takes.
 * requires: count_events, find_frequencies   makes: lane of increments */
void choose_lanes(struct graph *graph, uint32_t cell, uint32_t lane_count);

/* pass/tick_potentials.c: what of the ticks is above the cell, by node.
 * requires: find_ticks, find_liveness    makes: potentials of all nodes */
void find_tick_potentials(const struct graph *graph, struct node_potential *potentials);

/* pass/insert.c: the code of all increments.
 * requires: increments   maintains: all that the program can see   breaks: nothing */
void insert_increments(struct pass_state *state, const struct graph *graph, uint32_t number);

/* pass/entries.c: which functions need not ask whether the thread has cells.
 * requires: measure_unit   makes: internal */
void find_internal(struct pass_state *state);

/* pass/handlers.c: which functions note that they were called as signal handlers.
 * requires: find_functions   makes: handlers */
void find_handlers(struct pass_state *state);

/* pass/watch_init.c: code that runs before the constructors of a shared object starts the runtime.
 * requires: find_functions   makes: starts_early */
void start_before_init(struct pass_state *state);

/* pass/notes.c: the notes that readers solve counts from (format/notes.h). */

/* Where code was put into blocks: a block is told as several where code stands inside of it. */
struct placed_block {
    uint32_t label;    /* number of the label at its first instruction */
    index_list splits; /* instructions that have inserted code in front of them, in order */
    index_list split_labels;
};

void write_function_note(struct pass_state *state, const struct graph *graph,
                         const struct placed_block *placed, uint32_t number);

/* pass/queries.c: what must be added to an event's cell at each instruction. */

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

void write_query_tables(struct pass_state *state, const struct graph *graph,
                        const anchor_list *anchors, uint32_t number);

/* Enters section NAME for what is told of fragment F, in that one's group, and returns the number
 * of a label (.LQr) there.  A relocation at the fragment, which changes nothing, keeps it in the
 * link: there, since gold takes none in a section that is empty. */
uint32_t enter_rows(struct pass_state *state, const struct asm_function *function, uint32_t number,
                    size_t f, const char *name);

/* The cells, and what the tables of all functions share: behind the last of them. */
void write_event_cells(struct pass_state *state);
void write_left_alone_note(struct pass_state *state, const struct asm_function *function);
void write_unit_note(struct pass_state *state, const char *version);

/* provoke.c: makes the fault that $QUIPU_FAULT wants of this function, or where it is NULL of the
 * whole unit, for tests. */
void provoke_fault(struct pass_state *state, const struct asm_function *function);

/* The function's symbol, in the unit's arena. */
const char *function_name(const struct unit *unit, const struct asm_function *function);

#endif
