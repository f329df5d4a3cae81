/* plan.h: the plan of one function's inserted code, which is decided before any text is written.
 *
 * Private to the pass. plan.c makes the plan. insert.c, copy.c, align.c, stubs.c, text.c, reach.c,
 * anchors.c, entry_edge.c and the features use it to write the text. */
#ifndef QUIPU_PASS_PLAN_H
#define QUIPU_PASS_PLAN_H

#include "asm/lex.h"
#include "asm/locations.h"
#include "format/notes.h"
#include "format/watch.h"
#include "pass/pass.h"
#include "x86/sequence.h"

/* The plan of one block. The base, which is that of %gs or a register, "holds" where it leads to
 * the thread's cells. It is "lost" where it ceases to do so. */
struct block_plan {
    uint32_t top; /* first instruction in front of which code may be inserted, or their count */
    uint32_t counter_at;    /* instruction in front of which its counter is inserted */
    bool killed_above;      /* the base is lost in front of the counter */
    bool killed_below;      /* the base is lost at the counter or behind it */
    bool needed;            /* behind the top, a use of the base may follow before it is lost */
    bool load_at_top;       /* the base is loaded at the top, for entries from outside */
    bool holds_at_top;      /* on every path, the base holds at the top, without that load */
    bool holds_at_end;      /* and behind the last instruction; calls: see holds_on_edge */
    bool jumps_out_of_line; /* the jump at its end leads to a stub, ... */
    bool stub_is_far;       /* ... which a short jump does not reach */
    bool runs_copied; /* head of a loop that mostly runs as a copy: padding in front of the head
                         would be executed on the path to the choice */
};

/* The stubs of one block, which have no position yet. */
struct waiting_stub {
    size_t end;        /* of their text in planner.stubs */
    uint32_t position; /* estimate: of the jump in the fragment */
    uint32_t size;     /* estimate: bytes */
};

/* A test of the countdown that is left out until a countdown is wanted (format/moment.h). */
struct countdown_test {
    uint32_t label; /* of its code out of line */
    uint8_t fragment;
};

struct planner {
    struct pass_state *state;
    const struct graph *graph;
    unsigned needs; /* what the features need: bits of enum feature_needs */
    struct code_context context;
    struct block_plan *blocks;
    bool *load_on_edge; /* by edge: it is a call's, and behind the call the base is loaded again */
    struct placed_block *placed;
    const uint32_t *row_of;
    int base;
    bool red_zone_free; /* the function uses no memory below the stack pointer */
    bool copied;        /* some original text was copied */
    bool internal; /* callers have tested for the thread's cells, or a feature's code at the entry
                      makes sure of them */
    /* stubs.c */
    struct buffer far_stubs;             /* stubs that are put behind the fragment, ... */
    struct buffer tests;                 /* ... and behind those the tests of countdowns */
    struct buffer stubs;                 /* other stubs, which have no position yet, ... */
    VECTOR(struct waiting_stub) waiting; /* ... by block that jumps there, in order */
    uint32_t position;                   /* estimate: bytes of the fragment written so far */
    uint32_t tail_size;                  /* bytes of tails in the stubs of the current block */
    uint32_t place;          /* the last block that does not fall through, or NONE, ... */
    uint32_t place_position; /* ... and the position of its end */
    uint32_t *ends;          /* reach.c: estimated end of each text block in its fragment */
    uint32_t *sizes;         /* and size of each fragment without code out of line */
    /* anchors.c */
    anchor_list anchors;
    mark_list marks;        /* of the code that is being written, ... */
    struct event_sums sums; /* ... the sums there, ... */
    uint8_t fragment;       /* ... and its fragment */
    VECTOR(struct countdown_test) countdown_tests;
    void *data[FEATURES]; /* data of the features: see function_data */
};

/* Makes all of the plan that is decided before text is written. */
void make_plan(struct planner *p);

/* Returns what inserted code may clobber at a position where LIVE is live. HOLDS: the base holds
 * there. CYCLE: the number of instructions of the shortest cycle back to the position, or 0. */
struct clobbers clobbers_at(const struct planner *p, uint32_t live, bool holds,
                            struct frame_row frame, uint32_t cycle);

const struct statement *statement_of(const struct planner *p,
                                     const struct graph_instruction *instruction);
/* Whether the base holds on edge INDEX, behind a load on that edge. */
bool holds_on_edge(const struct planner *p, uint32_t index);
struct frame_row frame_at(const struct planner *p, const struct graph_instruction *instruction);

/* Returns the label of the function's first fragment, by which rows of tables name the function. */
const char *function_label(const struct planner *p);

/* Whether instruction INSTRUCTION of block INDEX is at the entry of the function: it runs once for
 * each call, and no instruction before it stores. */
bool is_at_entry(const struct graph *graph, uint32_t index, uint32_t instruction);

/* Whether code may be inserted in front of instruction INDEX of the block. */
bool code_may_stand(const struct graph *graph, const struct basic_block *block, uint32_t index);

/* Makes instruction INDEX of the block the begin of a new piece, which gets a label. */
void split_block(struct planner *p, uint32_t block, uint32_t index);

/* Inserts TEXT in front of all that is counted in block INDEX, and releases it. */
void insert_at_top(struct planner *p, uint32_t index, struct buffer *text);

/* Appends the increments of edge INDEX, if it has any. */
void write_edge_increments(struct planner *p, struct buffer *out, uint32_t index);

/* Writes the stub of edge EDGE, a taken branch: CODE, then a jump to TARGET or a copy of its block.
 * Releases CODE. Returns the stub's label, in the unit's arena. */
const char *write_taken_stub(struct planner *p, uint32_t edge, struct buffer *code,
                             const char *target);

/* text.c */

/* Inserts TEXT in front of the instruction, and releases it. */
void insert_at(struct planner *p, const struct graph_instruction *instruction, struct buffer *text);

/* Inserts TEXT behind the instruction, and releases it. */
void insert_after(struct planner *p, const struct graph_instruction *instruction,
                  struct buffer *text);

/* The first function inserts TEXT in front of a block that is padding, behind its label, and
 * releases it. The second returns the unwinding rules at that position. */
void insert_before_padding(struct planner *p, const struct basic_block *padding,
                           struct buffer *text);
struct frame_row frame_before_padding(const struct planner *p, const struct basic_block *padding);

/* Inserts TEXT in front of a label of the text, and releases it. */
void insert_before_label(struct planner *p, uint32_t label, struct buffer *text);

/* Returns the symbol in the text of a direct branch, with its quotes if it has them. */
struct span branch_operand(const struct planner *p, const struct statement *statement);
/* Returns the operand of BRANCH in a form that is valid elsewhere in the text, in the unit's arena.
 * There, "1b" would mean another label, so a numeric label gets a name. */
const char *portable_operand(struct planner *p, const struct statement *branch,
                             struct span operand);

/* In a unit whose lines the assembler counts (unit.numbered), writes a line marker for code out of
 * line that belongs to INSTRUCTION. Otherwise writes nothing. */
void write_counted_line(const struct planner *p, struct buffer *out,
                        const struct graph_instruction *instruction);
/* The same for code out of line that increments write from here on. */
void set_counted_line(struct planner *p, const struct graph_instruction *instruction);
/* Writes the source line and the unwinding rules of INSTRUCTION if they differ from those of
 * BEFORE. BEFORE is NULL at the begin of a copy: then it writes only the line. */
void write_changes(const struct planner *p, struct buffer *out,
                   const struct graph_instruction *before,
                   const struct graph_instruction *instruction);
/* Writes the source line of INSTRUCTION again, behind a copy or a line marker: behind it the
 * original text continues. */
void write_line_again(const struct planner *p, struct buffer *out,
                      const struct graph_instruction *instruction);
/* Writes the text of one instruction, with its prefixes. */
void write_instruction(const struct planner *p, struct buffer *out,
                       const struct graph_instruction *instruction);

/* anchors.c */

/* Returns the sums in front of instruction INSTRUCTION of block INDEX. COUNTED: behind the block's
 * increments. */
struct event_sums sums_in_block(const struct planner *p, uint32_t index, uint32_t instruction,
                                bool counted);
/* Returns the sums on edge INDEX, in front of its increments. */
struct event_sums sums_on_edge(const struct planner *p, uint32_t index);

/* The first function adds an anchor in front of code that is about to be written to OUT. Once that
 * code is written, the second adds an anchor behind each of its additions. */
void anchor_code(struct planner *p, struct buffer *out, uint8_t fragment, struct event_sums sums);
void anchor_marks(struct planner *p);
/* As the first, if something else adds that anchor. */
void begin_marks(struct planner *p, uint8_t fragment, struct event_sums sums);

/* Adds an anchor in front of instructions [FROM, TO) of the block, which are written next. */
void anchor_instructions(struct planner *p, struct buffer *out, uint32_t index, uint32_t from,
                         uint32_t to, bool counted);

/* The same, where SUMS apply. */
void anchor_stretch(struct planner *p, struct buffer *out, uint32_t index, uint32_t from,
                    uint32_t to, struct event_sums sums);

/* Adds anchors at all pieces of blocks, once these have labels. */
void anchor_pieces(struct planner *p);

/* Whether control may come to the block by an edge of KIND. */
bool enters_by(const struct graph *graph, const struct basic_block *block,
               enum quipu_edge_kind kind);
/* Whether control comes to the block only when the function is called, not from inside it. */
bool enters_once(const struct graph *graph, const struct basic_block *block);
/* Returns the edge by which the block ends the function, with a return or a jump to another
 * function, or NULL. */
const struct edge *edge_away(const struct planner *p, const struct basic_block *block);

/* entry_edge.c: whether there is a position where code runs once each time when control enters the
 * function by block INDEX. The second function inserts TEXT there, or at the block's top if there
 * is none, and releases it. */
bool has_entry_position(const struct graph *graph, uint32_t index);
void insert_on_entry(struct planner *p, uint32_t index, struct buffer *text);

/* copy.c: writes a copy of the block: its counter, and its instructions except a jump at its
 * end. */
void write_body(struct planner *p, struct buffer *out, uint32_t index);
/* Inserts the copies of an unrolled loop, whose last block is INDEX, with the code on all edges of
 * that block and of the copies. */
void insert_copies(struct planner *p, uint32_t index);

/* align.c: keeps small code in loops within one line of fetched code. */
void keep_in_line(struct planner *p, uint32_t index);

/* Returns the estimated size of the block with what is inserted into it, in bytes. */
uint32_t grown_size(const struct planner *p, uint32_t index);

/* stubs.c: chooses positions for stubs, once block INDEX is written. */
void place_stubs(struct planner *p, uint32_t index);
/* Whether the stub of a jump will be further away than a short jump reaches. The jump is AHEAD
 * bytes in front of the end of block INDEX, whose stubs have no position yet. */
bool is_stub_far(const struct planner *p, uint32_t index, uint32_t ahead);

/* reach.c: estimates the positions of blocks; returns the bytes from the end of block INDEX to that
 * of its fragment; and, once all is written, makes jumps long whose targets are far away. */
enum {
    SHORT_REACH = 127 /* of a short jump */
};
void find_positions(struct planner *p);
/* Whether the block is the last of its fragment. */
bool ends_fragment(const struct planner *p, uint32_t index);
uint32_t bytes_to_end(const struct planner *p, uint32_t index);
void lengthen_jumps(struct planner *p);

#endif
