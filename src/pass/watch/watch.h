/* watch.h: declarations shared by the files of watched memory; private to this folder. */
#ifndef QUIPU_PASS_WATCH_WATCH_H
#define QUIPU_PASS_WATCH_WATCH_H

#include "format/watch.h"
#include "pass/feature.h"
#include "pass/plan.h"

struct loop_copy;

/* Data of a unit, ... */
struct watched_unit {
    bool watched;        /* it has a check, or a row */
    bool copied;         /* a loop has a copy without checks */
    bool starts_early;   /* some code runs before the module's constructors */
    bool *unseen;        /* by function: unseen.c */
    bool *interposed;    /* by function: init.c; NULL: none */
    bool has_interposed; /* one of these has checks */
};

/* ... and of a function. */
struct watched_function {
    struct frame_row out_of_line;     /* at the end of far_stubs; not known: the frame of the
                                       * surrounding text */
    VECTOR(struct buffer) sites;      /* by fragment: rows of the table of sites */
    VECTOR(struct loop_copy *) loops; /* that get a copy without checks */
};

/* sites.c: the data, and the table of all sites. */
struct watched_unit *watched_unit(const struct pass_state *state);
struct watched_function *watched_function(const struct planner *p);

/* Returns the rows of the table of sites in FRAGMENT. */
struct buffer *site_rows(struct planner *p, uint8_t fragment);
void write_sites(struct planner *p, uint32_t number);

/* Makes FRAME's rules apply for the unwinder from the end of the code out of line on. */
void enter_frame(struct planner *p, const struct frame_row *frame);
/* Ends these rules, at the end of a fragment. */
void end_out_of_line(struct planner *p);

/* unseen.c: finds the functions behind whose own calls nothing is compared. */
void find_unseen_calls(struct pass_state *state);
/* Returns the statement that defines SYMBOL, or the symbol whose alias it is; NONE: the unit does
 * not. */
uint32_t find_label(const struct unit *unit, uint32_t symbol);
/* Whether the call or jump S surely enters code with checks, which is at LABEL. */
bool enters_checks(const struct pass_state *state, const struct statement *s, uint32_t label);

/* checks.c: checks of the block's stores. */
void insert_checks(struct planner *p, uint32_t index);
/* Whether the instruction's store has a check that is always armed. */
bool needs_check(const struct planner *p, const struct graph_instruction *instruction);
/* Whether the instruction only stores by the stack pointer, and is not `enter`. */
bool is_plain_push(const struct graph_instruction *instruction);

/* loops.c: chooses the loops that get a copy without checks, and inserts the choice before each;
 * writes the copy of the loop with head INDEX. */
void plan_loops(struct planner *p);
void insert_loop_copy(struct planner *p, uint32_t index);
/* For a store in block INDEX, in a build that also counts: returns which check could be avoided. */
enum quipu_check_kind kind_of_check(const struct planner *p, uint32_t index,
                                    const struct access *store);

/* calls.c: whether NAME is a known function of the C library, or an allocating operator of C++. */
bool is_library_name(struct span name);
/* Inserts checks around a call at the block's end. */
void insert_call_checks(struct planner *p, uint32_t index);

/* Whether the code that insert_call_checks inserts before the call, the block's last instruction,
 * also checks the store of the return address. */
bool has_call_site(const struct planner *p, const struct basic_block *block,
                   const struct graph_instruction *instruction);

/* frames.c: inserts the code that reports the function's entry, its ends, and points at which
 * control comes back to it. insert_frame_begin: before all else in block INDEX. insert_frame_end:
 * at the block's end, before the checks of its jump. insert_frame_back: on edge INDEX.
 * write_frame_end_on_edge: on the edge of a jump that ends the function, appended to OUT. */
void insert_frame_begin(struct planner *p, uint32_t index);
/* Whether the function, which begins in block INDEX, begins with pushes whose no-operation also
 * serves the entry. Once that no-operation exists, with LABEL, the second function writes the code
 * of the entry and its row. */
bool shares_begin(const struct planner *p, uint32_t index);
void write_shared_begin(struct planner *p, uint32_t label);
void insert_frame_end(struct planner *p, uint32_t index);
void insert_frame_back(struct planner *p, struct buffer *out, uint32_t index);
void write_frame_end_on_edge(struct planner *p, struct buffer *out, uint32_t index);

/* init.c: makes code that runs before the constructors of a shared object start the runtime. */
void start_before_init(struct pass_state *state);
/* Finds the functions that take the place of the C library's. */
void find_interposed(struct pass_state *state);
/* The same for the function, if it is one of these, at its first block. */
void insert_early_start(struct planner *p, uint32_t index);

#endif
