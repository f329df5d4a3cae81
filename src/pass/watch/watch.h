/* watch.h: what the files of watched memory offer each other; private to this folder. */
#ifndef QUIPU_PASS_WATCH_WATCH_H
#define QUIPU_PASS_WATCH_WATCH_H

#include "format/watch.h"
#include "pass/feature.h"
#include "pass/plan.h"

struct loop_copy;

/* What is kept of a unit, */
struct watched_unit {
    bool watched;      /* something has a check, or a row */
    bool copied;       /* some loop has a copy without checks */
    bool starts_early; /* some code runs before the module's constructors */
};

/* and of a function. */
struct watched_function {
    struct frame_row out_of_line;     /* of far_stubs' end; not known: it is the text's around */
    VECTOR(struct buffer) sites;      /* by fragment: rows of the table of checks */
    VECTOR(struct loop_copy *) loops; /* that get a copy without checks */
};

struct watched_unit *watched_unit(struct pass_state *state);
struct watched_function *watched_function(const struct planner *p);

/* checks.c: checks of the block's stores, and the table of all checks. */
void insert_checks(struct planner *p, uint32_t index);
void write_sites(struct planner *p, uint32_t number);
/* Whether the instruction's store is checked from the beginning. */
bool needs_check(const struct planner *p, const struct graph_instruction *instruction);
/* Code out of line goes on where the unwinder has the rules of FRAME. */
void enter_frame(struct planner *p, const struct frame_row *frame);
/* Behind all code out of line of a fragment. */
void end_out_of_line(struct planner *p);

/* Whether the instruction stores by the stack pointer alone, and is no enter. */
bool is_plain_push(const struct graph_instruction *instruction);

/* The rows of the table of checks in FRAGMENT. */
struct buffer *site_rows(struct planner *p, uint8_t fragment);

/* loops.c: chooses the loops that get a copy without checks, and has them ask in front; the copy of
 * the one whose head is block INDEX. */
void plan_loops(struct planner *p);
void insert_loop_copy(struct planner *p, uint32_t index);
/* Of a store in block INDEX, in a build that counts, too: which check would not run. */
enum quipu_check_kind kind_of_check(const struct planner *p, uint32_t index,
                                    const struct store *store);

/* calls.c: checks around a call at the block's end. */
void insert_call_checks(struct planner *p, uint32_t index);

/* Whether what insert_call_checks puts in front of the call, the block's last instruction, checks
 * the store of the return address, too. */
bool has_call_site(const struct planner *p, const struct basic_block *block,
                   const struct graph_instruction *instruction);

/* frames.c: where the function begins, ends and is come back to: in front of all else in block
 * INDEX; at its end, in front of what checks its jump; behind edge INDEX; and on that of a jump
 * that ends the function, appended to OUT. */
void insert_frame_begin(struct planner *p, uint32_t index);
/* Whether the function, in block INDEX, begins with pushes, whose no-operation is the begin's, too;
 * once the pushes have it, LABEL, the code of the begin and its row. */
bool shares_begin(const struct planner *p, uint32_t index);
void write_shared_begin(struct planner *p, uint32_t label);
void insert_frame_end(struct planner *p, uint32_t index);
void insert_frame_back(struct planner *p, struct buffer *out, uint32_t index);
void write_frame_end_on_edge(struct planner *p, struct buffer *out, uint32_t index);

/* init.c: code that runs before the constructors of a shared object starts the runtime. */
void start_before_init(struct pass_state *state);

#endif
