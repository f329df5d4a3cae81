/* plan.h: where the counts of one function get their code, decided before any text is written.
 *
 * Private to the pass: plan.c decides, count.c, copy.c and align.c write. */
#ifndef QUIPU_PASS_PLAN_H
#define QUIPU_PASS_PLAN_H

#include "asm/lex.h"
#include "asm/locations.h"
#include "format/notes.h"
#include "format/watch.h"
#include "pass/pass.h"
#include "x86/sequence.h"

/* What is planned for one block. */
struct block_plan {
    uint32_t top;           /* first instruction that code may stand in front of */
    uint32_t slot;          /* instruction that its counter stands in front of */
    bool killed_above;      /* the base register is written above the slot */
    bool killed_below;      /* or from there on */
    bool needed;            /* a use may follow from the top without a loss before */
    bool load_at_top;       /* entered from outside and needed */
    bool holds_at_top;      /* the base holds at the top, on every path */
    bool holds_at_end;      /* and behind the last instruction, jumps only */
    bool jumps_out_of_line; /* the jump at its end leads to code that was put there, ... */
    bool stub_is_far;       /* ... further away than a short jump reaches */
    bool runs_copied;       /* the head of a loop of which mostly a copy runs: what aligns the loop
                               is passed on the way to the choice */
};

/* Code out of line that one block jumps to. */
struct waiting_stub {
    size_t end;        /* in planner.stubs */
    uint32_t position; /* of the jump, in the fragment, about */
    uint32_t size;     /* bytes, about */
};

/* A test of the countdown that is left out. */
struct countdown_test {
    uint32_t label; /* of its code out of line */
    uint8_t fragment;
};

struct planner {
    struct pass_state *state;
    const struct graph *graph;
    unsigned needs; /* of the features: enum feature_needs */
    struct code_context context;
    struct block_plan *blocks;
    bool *load_on_edge; /* by edge: calls whose return needs the base again */
    struct placed_block *placed;
    const uint32_t *row_of;
    int base;
    bool copied;   /* some text was written once more */
    bool internal; /* who enters it has asked for the thread's cells, or what begins it does */
    /* stubs.c */
    struct buffer far_stubs;             /* code that stands behind the fragment, */
    struct buffer tests;                 /* and behind that, of countdowns */
    struct buffer stubs;                 /* other code out of line, that has no place yet ... */
    VECTOR(struct waiting_stub) waiting; /* ... by the blocks that jump there, in their order */
    uint32_t position;                   /* bytes of the fragment that are written, about */
    uint32_t tail_size;      /* of the tails in what the present block put out of line */
    uint32_t place;          /* the last block that did not go on behind itself, or NONE ... */
    uint32_t place_position; /* ... and where it ended */
    uint32_t *ends;  /* reach.c: by text block, bytes from its fragment's begin to its end, about */
    uint32_t *sizes; /* and by fragment, without what stands out of line */
    /* anchors.c */
    anchor_list anchors;
    mark_list marks;        /* of the code that is being written ... */
    struct event_sums sums; /* ... and what held where it began ... */
    uint8_t fragment;       /* ... in this fragment */
    VECTOR(struct countdown_test) countdown_tests;
    void *data[FEATURES]; /* what features keep: function_data */
};

/* Fills in all of the plan but what is written. */
void make_plan(struct planner *p);

/* What may be changed at a place where LIVE is live; HOLDS: the base register holds the cells.
 * CYCLE: instructions of the way round a loop to the same place, or 0. */
struct clobbers clobbers_at(const struct planner *p, uint32_t live, bool holds,
                            struct frame_row frame, uint32_t cycle);

const struct statement *statement_of(const struct planner *p,
                                     const struct graph_instruction *instruction);
/* Whether the base leads to the thread's cells on edge INDEX, behind what is loaded there. */
bool holds_on_edge(const struct planner *p, uint32_t index);
struct frame_row frame_at(const struct planner *p, const struct graph_instruction *instruction);

/* The function's first byte, as rows of tables name it. */
const char *function_label(const struct planner *p);

/* Whether instruction INSTRUCTION of block INDEX runs right behind the call of the function, once
 * for each. */
bool is_at_entry(const struct graph *graph, uint32_t index, uint32_t instruction);

/* Whether code may stand in front of instruction INDEX of the block. */
bool code_may_stand(const struct planner *p, const struct basic_block *block, uint32_t index);

/* Puts a label in front of instruction INDEX of the block, and says so in the block's splits. */
void split_block(struct planner *p, uint32_t block, uint32_t index);

/* Appends the increments of edge INDEX, if it has any. */
void write_edge_increments(struct planner *p, struct buffer *out, uint32_t index);

/* Puts CODE, which is released, and the way on to TARGET out of line, for EDGE to lead there when
 * it is taken.  Returns the stub's label, in the unit's arena. */
const char *write_taken_stub(struct planner *p, uint32_t edge, struct buffer *code,
                             const char *target);

/* text.c */

/* Puts TEXT in front of the instruction, and releases it. */
void insert_at(struct planner *p, const struct graph_instruction *instruction, struct buffer *text);

/* Puts TEXT behind the instruction, and releases it. */
void insert_after(struct planner *p, const struct graph_instruction *instruction,
                  struct buffer *text);

/* Puts TEXT in front of a block that is padding, behind its label, and releases it; and the row
 * of the unwinder that holds there. */
void insert_before_padding(struct planner *p, const struct basic_block *padding,
                           struct buffer *text);
struct frame_row frame_before_padding(const struct planner *p, const struct basic_block *padding);

/* The symbol in the text of a direct branch, with the quotes that it may have. */
struct span branch_operand(const struct planner *p, const struct statement *statement);
/* The operand of BRANCH as it may stand elsewhere in the text, in the unit's arena. "1b" means
 * another label there, so that gets a name. */
const char *portable_operand(struct planner *p, const struct statement *branch,
                             struct span operand);

/* Where the instruction is of another line than the one before, or the unwinder has to know
 * more, that is said; BEFORE is NULL at the begin. */
void write_changes(const struct planner *p, struct buffer *out,
                   const struct graph_instruction *before,
                   const struct graph_instruction *instruction);
/* Where the lines of a copy end, and the text goes on behind INSTRUCTION. */
void write_line_again(const struct planner *p, struct buffer *out,
                      const struct graph_instruction *instruction);
/* The text of one instruction, with its prefixes. */
void write_instruction(const struct planner *p, struct buffer *out,
                       const struct graph_instruction *instruction);

/* anchors.c */

/* What holds in front of instruction INSTRUCTION of the block; COUNTED: behind its increments. */
struct event_sums sums_in_block(const struct planner *p, uint32_t index, uint32_t instruction,
                                bool counted);
/* What holds on edge INDEX, in front of its increments. */
struct event_sums sums_on_edge(const struct planner *p, uint32_t index);

/* An anchor in front of code that is about to be written to OUT, and behind what that adds:
 * anchor_marks follows once it is written. */
void anchor_code(struct planner *p, struct buffer *out, uint8_t fragment, struct event_sums sums);
void anchor_marks(struct planner *p);

/* An anchor in front of instructions [FROM, TO) of the block, which are written next. */
void anchor_instructions(struct planner *p, struct buffer *out, uint32_t index, uint32_t from,
                         uint32_t to, bool counted);

/* Anchors at all pieces of blocks, once they have labels. */
void anchor_pieces(struct planner *p);

/* Whether control may come to the block by an edge of KIND. */
bool enters_by(const struct planner *p, const struct basic_block *block, enum quipu_edge_kind kind);
/* The edge by which the block leaves the function as a whole, or NULL. */
const struct edge *edge_away(const struct planner *p, const struct basic_block *block);

/* copy.c: the block's own text once more: its counter, and its instructions but a jump at its end.
 */
void write_body(struct planner *p, struct buffer *out, uint32_t index);
/* The text of an unrolled loop; all edges of the block and its copies are done with it. */
void insert_copies(struct planner *p, uint32_t index);

/* align.c: keeps small code in loops within one line of fetched code. */
void keep_in_line(struct planner *p, uint32_t index);

/* Bytes of the block with what is inserted into it, about. */
uint32_t grown_size(const struct planner *p, uint32_t index);

/* stubs.c: gives a place to code that stands out of line, once block INDEX is written. */
void place_stubs(struct planner *p, uint32_t index);
/* Whether what a jump AHEAD bytes in front of the end of block INDEX, which is not placed yet, goes
 * to out of line will stand further away than a short jump reaches. */
bool is_stub_far(const struct planner *p, uint32_t index, uint32_t ahead);

/* reach.c: where blocks come to lie; bytes from the end of block INDEX to that of its fragment;
 * and, once all is written, jumps that go far are made long. */
enum {
    SHORT_REACH = 127 /* of a short jump */
};
void find_positions(struct planner *p);
/* Whether the block is the last of its fragment. */
bool ends_fragment(const struct planner *p, uint32_t index);
uint32_t bytes_to_end(const struct planner *p, uint32_t index);
void lengthen_jumps(struct planner *p);

#endif
