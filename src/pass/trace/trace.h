/* trace.h: declarations shared by the files of traces; private to this folder. */
#ifndef QUIPU_PASS_TRACE_TRACE_H
#define QUIPU_PASS_TRACE_TRACE_H

#include "flow/unroll.h"
#include "pass/feature.h"
#include "pass/trace/order.h"
#include "pass/trace/site.h"
#include "x86/trace_record.h"

/* A record of the function: in front of an instruction, in front of padding, or on an edge. */
struct trace_record {
    bool sync;          /* otherwise it is a witness */
    bool tests_handler; /* the kernel may enter the function here, or by the edge's source */
    uint32_t block;     /* index, or NONE: on an edge */
    uint32_t at;        /* in front of this instruction of the block */
    uint32_t edge;      /* index, or NONE */
    uint32_t id;        /* of a witness; see format/trace_heads.h */
    bool repeats;       /* repeat.c: a sync that may leave out values of the last time */
    uint32_t last;      /* the place of the first of these (QUIPU_TRACE_LAST_VALUES) */
    uint32_t label;     /* number of the labels of its code */
    uint16_t registers; /* that it has */
    uint16_t narrow;    /* narrow.c: of those, their upper halves are 0 and not recorded */
    bool vectors;       /* it has the vectors of the instruction behind it, too */
    bool behind_tail;   /* it has the result of a jump to a known function, which is a call here */
    bool held;          /* cursor.c: %r11 is the cursor there */
    bool roomy;         /* cursor.c: a record before has made sure of room */
};

/* Registers whose values must be recorded in a block, in front of one of the instructions [low,
 * high]. */
struct wanted_values {
    uint32_t block;
    uint32_t low, high;
    uint16_t registers;
    bool vectors; /* and the vectors of instruction `high`, which is `low` */
};

/* A place where the value of a register is to be recorded if it is not known there. */
struct placed_value {
    uint32_t at; /* in front of this instruction of the block, or earlier */
    uint8_t reg;
    uint32_t next; /* 1 + the next one of the same block, or 0 */
};

/* What a trace must have of the call or jump at the end of a block, to a known function of the C
 * library (x86/callee.h). */
struct callee_values {
    uint16_t arguments; /* registers */
    bool result;
};

/* A small loop that has an unrolled form, too (unrolled.c). */
struct unrolled_loop {
    struct loop_text text;
    int32_t *ticks;          /* by block: between the begin of an iteration and the block */
    uint8_t lane;            /* of the additions to its counter */
    uint32_t exit;           /* label (.LQo) behind the loop */
    uint32_t labels;         /* the first one (.LQo) of the unrolled form, */
    uint32_t labels_of_turn; /* ... and their number in one iteration */
    uint32_t sites[2];       /* labels of the sites at its begin and its end */
};

/* The records of one function. */
struct trace_records {
    VECTOR(struct wanted_values) wanted; /* by block, and within it by rising `high` */
    VECTOR(struct trace_record) records; /* by block and position; then those on edges */
    uint32_t *of_edge;                   /* by edge: 1 + its record, or 0 */
    uint32_t *of_block;                  /* by block: 1 + its first record, or 0 */
    uint32_t *of_tail;                   /* by block: 1 + the record behind its jump, or 0 */
    VECTOR(struct placed_value) placed;
    uint32_t *placed_of;           /* by block: 1 + its first placed value, or 0 */
    bool *syncs;                   /* by block: control may come to it from elsewhere */
    uint32_t *sync_behind;         /* by block: 1 + the edge behind it that has its sync, or 0 */
    uint16_t *values_behind;       /* by block: registers that the record of that edge has */
    struct callee_values *callees; /* by block */
    struct order_sites order;
    VECTOR(struct trace_site) sites; /* in the order of the text */
    VECTOR(struct unrolled_loop) loops;
    uint32_t
        *loop_of; /* by block that begins or ends one: 1 + the loop, or 0; NULL: there is none */
};

/* values.c: finds the blocks and edges to which control comes from elsewhere, and the values that
 * must be recorded. Marks these blocks and edges as recorded. Returns NULL, or why the function
 * must be left alone. CALLEES: what known functions of the C library access must be told by values,
 * as these have no records. requires: build_graph, find_frequencies   makes: recorded of blocks and
 * edges, syncs, sync_behind, values_behind, wanted */
const char *find_wanted_values(struct graph *graph, struct trace_records *trace, bool callees);

/* Returns the edge that has the sync of block INDEX behind the block, or NONE. */
uint32_t find_sync_behind(const struct trace_records *trace, uint32_t index);

/* placement.c: finds the places where values are best recorded.
 * requires: build_graph, find_frequencies, syncs, sync_behind, callees   makes: placed, placed_of
 */
void place_values(const struct graph *graph, struct trace_records *trace);

/* Whether nothing but the stack pointer is known where EDGE arrives, which does not come from
 * outside. */
bool loses_registers(const struct graph *graph, const struct edge *edge);

/* Whether the result of a call is recorded in front of the first instruction of BLOCK. */
bool begins_with_result(const struct graph *graph, const struct trace_records *trace,
                        const struct basic_block *block);

/* Whether the record on EDGE, behind a call, has the result. */
bool has_result(const struct graph *graph, const struct trace_records *trace,
                const struct edge *edge);

/* tail_call.c: inserts a call of the function to which block INDEX jumps, with the record of its
 * result, in front of the jump. */
void insert_tail_call(struct planner *p, const struct trace_records *trace, uint32_t index);

/* trace.c: writes a record. FRAME is the row of its code. */
void write_record(struct planner *p, struct buffer *out, const struct trace_record *record,
                  const struct frame_row *frame);

/* trace.c: returns the site of a record of BLOCK, or on an edge from it. FRAME: as above. */
struct trace_site site_of_record(const struct trace_record *record, const struct basic_block *block,
                                 const struct frame_row *frame);

/* Whether the edge leads from a call that may not return, or return more than once. */
bool needs_sync(const struct graph *graph, const struct edge *edge);

/* records.c: chooses the positions of all records.
 * requires: place_chords, find_liveness   makes: records, of_edge, of_block */
void choose_records(struct planner *p, struct trace_records *trace);

/* repeat.c: chooses the syncs that may leave out values, and where their last ones are.
 * requires: choose_records, find_narrow_values   makes: repeats, last of records */
void choose_repeating(struct planner *p, struct trace_records *trace);

/* records.c: numbers the witnesses.
 * requires: choose_records, find_narrow_values   makes: id of records */
void number_witnesses(struct planner *p, struct trace_records *trace);

/* narrow.c: finds the recorded registers whose upper halves are 0.
 * requires: choose_records   makes: narrow of records */
void find_narrow_values(const struct graph *graph, struct trace_records *trace);

/* records.c: finds the vectors that RECORD has. Returns their number. */
unsigned vectors_of_record(const struct graph *graph, const struct trace_record *record,
                           struct access_vector found[ACCESS_VECTORS_MAX]);

/* cursor.c: returns what the code of RECORD must do. */
struct trace_code code_of_record(const struct planner *p, const struct trace_record *record);

/* cursor.c: what is live where RECORD is. */
uint32_t live_at_record(const struct graph *graph, const struct trace_record *record);

/* cursor.c: finds the records at which %r11 is the cursor, and those that need no test of the room.
 * requires: choose_records   makes: held, roomy of records */
void find_cursors(struct planner *p, struct trace_records *trace);

/* unrolled.c: chooses the loops that have an unrolled form.
 * requires: choose_records, make_plan   makes: loops */
void choose_unrolled(struct planner *p, struct trace_records *trace);
/* Inserts the unrolled form in front of the loop that begins with block INDEX, if there is one. The
 * second function appends the label that ends a loop to the code of edge INDEX; the third one
 * writes the rows of all loops in FRAGMENT. */
void insert_unrolled(struct planner *p, struct trace_records *trace, uint32_t index);
void end_unrolled(struct planner *p, const struct trace_records *trace, struct buffer *out,
                  uint32_t index);
void write_unrolled_rows(struct planner *p, const struct trace_records *trace, size_t fragment);

/* note.c: writes the note of function NUMBER (format/trace.h). */
void write_trace_note(struct planner *p, const struct trace_records *trace, uint32_t number);

#endif
