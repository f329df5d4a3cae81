/* walk.h: the state of a walk through a thread's records; private to the files walk*.c.
 *
 * walk.c           the path of control
 * walk_records.c   the thread's records, one after the other
 * walk_straight.c  a piece's instructions behind its first, as far as they are simple
 * walk_accesses.c  what an instruction accesses
 * walk_gap.c       what ran outside of the trace, and what it accessed
 * walk_window.c    which instructions are in the trace's window
 * walk_tail.c      jumps to known functions, whose results are recorded
 * walk_stack.c     whose frame an address of the stack is in
 * walk_suspended.c frames on stacks that the thread has left
 * walk_ticks.c     the counts of ticks that name moments
 * start.c          the state of the walk where a chunk begins */
#ifndef QUIPU_TRACE_WALK_H
#define QUIPU_TRACE_WALK_H

#include "trace/between.h"
#include "trace/gap.h"
#include "trace/trace.h"
#include "x86/accessed.h"
#include "x86/callee.h"

#include <string.h>

/* How control has left traced code. */
struct leaving {
    bool leaves;
    bool known;   /* `stack` is */
    bool resumes; /* ... or it is that of the caller, if that goes on: the call is not in the trace
                   */
    struct trace_gap gap;
    uint64_t stack; /* the stack pointer at the sync to which the call, jump or return leads */
    bool calls;     /* by a call or jump, with the walk's `call_values` */
};

struct frame {
    struct traced_function *function;
    const struct loaded_module *loaded;
    uint32_t piece, index; /* the next instruction; its piece's record has been read if `read` */
    bool read;
    uint32_t last; /* the record that was read last */
    bool calls;    /* control has left it by a call, or ... */
    uint32_t tail; /* ... by a jump: 1 + the record behind that; 0: by a call */
    const struct traced_instruction *call; /* the last one; NULL: none yet */
    bool handler;                          /* the kernel has called it */
    uint64_t
        above; /* of a handler: ticks of the interrupted function that do not count meanwhile */
    uint32_t interrupted;   /* of a handler: index in `interrupted_calls` */
    bool direct;            /* traced code has called it */
    uint64_t entry;         /* the stack pointer at its begin ... */
    bool begun;             /* ... which is known; otherwise at its first record */
    uint32_t chain;         /* index of the outermost frame from which on each is called by the one
                               before it, without other code between */
    struct leaving leaving; /* of a handler: of the interrupted code */
    uint16_t known;
    uint64_t values[EFFECT_VALUES]; /* the last ones are those of the loaded module
                                             and the thread; see walk.c */
    bool has_vectors;               /* those of the next instruction are known */
    uint8_t vectors[QUIPU_TRACE_VECTORS][QUIPU_TRACE_VECTOR_SIZE];
};

/* The next record of the thread. */
struct item {
    uint8_t kind; /* QUIPU_TRACE_END, _SYNC, _HANDLER, _FIRST, _ORDER, _MEASURED */
    const uint8_t *at;
    /* of a sync */
    struct traced_function *function; /* NULL: none of the modules has it */
    const struct loaded_module *loaded;
    uint32_t record;
    uint64_t stack;
    uint32_t id;          /* of a witness */
    uint64_t interrupted; /* of a handler */
    bool in_call;         /* ... the call in front of that address */
    uint64_t ticket;      /* of one */
    /* of a ticket, and of what a call accesses */
    bool bare;      /* the thread begins or ends, or its process ends */
    uint32_t piece; /* otherwise it is in front of this piece of `function`, which is NULL if no
                       module has it */
};

/* A sync that was looked for, by the lowest bits of its code's address. */
struct recent_sync {
    bool known; /* this is one */
    uint32_t low, record;
    struct traced_function *function; /* NULL: none of the modules has it */
    const struct loaded_module *loaded;
};

enum {
    RECENT_SYNCS = 1 << 10
};

/* The thread's software instruction counter in a module. */
struct tick_count {
    bool known;
    uint64_t ticks;
    uint32_t thread; /* its number there; 0: not known */
};

/* What a call accesses as the thread has recorded it. */
struct measured_range {
    uint8_t flags; /* enum quipu_trace_measured */
    uint64_t address, size;
};

/* The last call or jump. */
struct noted_call {
    struct call_values values;
    size_t first, end; /* its ranges in the walk's `measured` ... */
    size_t count;      /* ... which had so many when a signal handler interrupted it */
};

/* The callee of a gap. */
struct known_callee {
    bool known;
    struct callee callee;
};

struct trace_walk {
    struct trace *trace;
    struct arena arena;
    const struct traced_thread *thread;
    size_t chunk;
    size_t end_chunk; /* the walk ends behind the first instruction that follows a record of it */
    bool ends;        /* such a record was taken */
    bool ended;
    bool begins_whole; /* it began with a start that was whole */
    bool inherits;     /* a start has told what a child of fork goes on with */
    uint8_t records[QUIPU_TRACE_CONTENTS_MAX]; /* of the chunk, with what is in front of them */
    const uint8_t *start; /* of the chunk, in front of the first record; if it has one */
    uint64_t last[QUIPU_TRACE_LAST_COUNT]; /* values that records can repeat */
    const uint8_t *next, *end;
    struct record_sums taken;        /* bytes of the records so far */
    struct record_position position; /* behind the last one that was taken */
    bool peeked;
    struct item item;
    struct recent_sync recent_syncs[RECENT_SYNCS]; /* by those bits */
    VECTOR(struct frame) frames;
    VECTOR(struct frame) suspended; /* those without a function are in `frames` again */
    struct map suspended_at;        /* numbers of these, by their stack pointers */
    struct tick_count *counts;      /* of each module of the process */
    uint64_t above;                 /* of the next handler */
    bool interrupts;                /* the next sync is that of a signal handler */
    struct leaving leaving;
    struct noted_call call; /* the last one */
    VECTOR(struct measured_range)
    measured;                                    /* of calls that were interrupted, of the last one
                                                  * and of the next one */
    struct trace_gap gap;                        /* in front of the next instruction */
    bool gap_calls;                              /* it begins with that call or jump */
    VECTOR(struct noted_call) interrupted_calls; /* those in front of signal handlers */
    struct gap_names gap_names;
    struct map callee_numbers; /* in `callees`, by the call */
    VECTOR(struct known_callee) callees;
    struct trace_step step;
    struct frame *straight; /* the innermost frame: its piece goes on behind the step, and nothing
                               comes between; NULL: that is not known */
    const struct traced_instruction *straight_next, *straight_end; /* of the piece */
    bool stack_known; /* the stack pointer in front of the step's instruction is known */
    uint64_t stack;
    const char *fault;
    bool repeats; /* the next instruction was given by the walk in front of this one */
    struct trace_between *between; /* NULL: all is given */
    enum between_state where;
    bool skipped;    /* what ran in front of the next instruction is not in the window */
    uint64_t inside; /* 1 + the frame of the window's function that was called first; 0: none */
    uint64_t given;  /* instructions so far */
    struct access_values values; /* for accessed_parts */
};

/* walk_records.c: ends the walk, for the reason FAULT. */
void walk_fail(struct trace_walk *walk, const char *fault);

/* walk_records.c: begins with the thread's chunk number `chunk`. */
void enter_chunk(struct trace_walk *walk);

/* walk_records.c: reads the next record into `item`. Returns it, or an item of kind
 * QUIPU_TRACE_END. */
const struct item *read_next_item(struct trace_walk *walk);

/* Returns the next record, which stays the next one. */
static inline const struct item *peek(struct trace_walk *walk) {
    return walk->peeked ? &walk->item : read_next_item(walk);
}

/* walk_records.c: goes behind the next record, which has SIZE bytes, all of KIND. */
void skip_record(struct trace_walk *walk, enum record_bytes kind, uint32_t size);

/* walk_records.c: goes behind the next record, which has NOTE. Its values are now the last ones. */
void skip_noted_record(struct trace_walk *walk, const struct record_note *note);

/* walk_records.c: takes the registers of RECORD, which is the next one, and goes behind it. */
void take_record(struct trace_walk *walk, struct frame *frame, uint32_t record);

/* walk_records.c: whether the next record ITEM is RECORD of FRAME's function. */
bool is_next(const struct item *item, const struct frame *frame, uint32_t record);

/* walk_records.c: returns the value of register REG in the witness ITEM, which has NOTE. */
uint64_t value_in(const struct item *item, const struct record_note *note, int reg);

/* Returns the number in SIZE bytes, at most 8. */
static inline uint64_t number_at(const uint8_t *bytes, unsigned size) {
    uint64_t number = 0;
    memcpy(&number, bytes, size);
    return number;
}

/* walk_gap.c: returns the gap of what FRAME has called; if there is no frame, of what FUNCTION
 * returns to. */
struct trace_gap gap_of(const struct traced_function *function, const struct frame *frame);

/* walk_gap.c: whether FRAME ends by E, an edge to the outside, in favour of another function, which
 * returns to its caller: by a jump, or behind its text. */
bool hands_over(const struct frame *frame, const struct path_edge *e);

/* walk_gap.c: control leaves FRAME, whose caller in the trace is CALLER or NULL, by edge E. */
void leave_traced(struct trace_walk *walk, const struct frame *frame, const struct frame *caller,
                  const struct path_edge *e);

/* walk_gap.c: control is at a sync with STACK. RESUMES: a function goes on there that has begun
 * before. Returns whether control came without other code between; otherwise there is a gap. */
bool came_directly(struct trace_walk *walk, uint64_t stack, bool resumes);

/* walk_gap.c: FRAME has called code that has no records until it returned. */
void call_untraced(struct trace_walk *walk, const struct frame *frame);

/* walk_gap.c: notes the registers of FRAME, which is about to call or to jump. */
void note_call(struct trace_walk *walk, const struct frame *frame);

/* walk_gap.c: a signal handler begins, or returns to the call number `number` of
 * `interrupted_calls`. */
void keep_call(struct trace_walk *walk);
void return_to_call(struct trace_walk *walk, size_t number);

/* walk_gap.c: takes the next record, of what the call ahead accesses. */
void take_measured(struct trace_walk *walk);

/* walk_gap.c: moves the gap into the walk's step, with what is known of its accesses. FRAME
 * executes the next instruction. */
void emit_gap(struct trace_walk *walk, const struct frame *frame);

/* walk_straight.c: the instruction in the walk's step was executed by FRAME: finds out whether
 * trace_straight_step goes on. */
void begin_straight(struct trace_walk *walk, struct frame *frame);

/* walk_straight.c: FRAME executes the INSTRUCTION of the walk's step, whose effect has a short
 * form. */
void take_effect(struct trace_walk *walk, struct frame *frame,
                 const struct traced_instruction *instruction);

/* start.c: makes the frames of the walk by the start of its chunk, which has just been entered.
 * Returns whether they are all of the thread's. If not even the innermost one is known, there are
 * none. */
bool walk_start(struct trace_walk *walk);

/* walk_window.c: the same, and finds out whether the frames are in the window. */
void walk_begin_with_start(struct trace_walk *walk);

/* walk_window.c: an instruction is in the walk's step. Returns whether it belongs to the trace. */
bool walk_gives(struct trace_walk *walk);
/* walk_tail.c: FRAME leaves by edge E, a jump whose result is recorded. */
void leave_by_tail(struct trace_walk *walk, struct frame *frame, const struct path_edge *e);

/* walk_tail.c: whether the sync ITEM is behind a jump out of its function, and has the result. */
bool is_tail_result(const struct item *item);

/* walk_tail.c: whether the next record, a sync of FRAME's function, is one that a caller of FRAME
 * waits for. */
bool is_tail_of_caller(struct trace_walk *walk, const struct frame *frame);

/* walk_tail.c: takes the next record, which is a result. The function that waited for it is done.
 */
void take_tail_result(struct trace_walk *walk);

/* walk_stack.c: returns the `chain` of a frame that begins with this ENTRY, and is pushed next. */
uint32_t find_chain(const struct trace_walk *walk, uint64_t entry);

/* walk_suspended.c: takes away the frames from number FIRST on, and keeps those that may go on. */
void suspend_frames(struct trace_walk *walk, size_t first);

/* walk_suspended.c: makes the frame of FUNCTION that was suspended at STACK the innermost one.
 * Returns false if there is none. */
bool resume_suspended(struct trace_walk *walk, const struct traced_function *function,
                      uint64_t stack);

/* walk_suspended.c: records are missing, so nothing is known of other stacks. */
void forget_suspended(struct trace_walk *walk);

/* Returns the count of ticks in the module of FRAME. */
static inline struct tick_count *walk_count_of(const struct trace_walk *walk,
                                               const struct frame *frame) {
    return &walk->counts[frame->loaded - walk->thread->process->modules.data];
}

/* FRAME has gone over edge E. */
static inline void walk_count(struct trace_walk *walk, const struct frame *frame,
                              const struct path_edge *e) {
    if (e->ticks)
        walk_count_of(walk, frame)->ticks++;
}

/* walk_ticks.c: prepares the counts. */
void walk_begin_counts(struct trace_walk *walk);
/* walk_ticks.c: a chunk was entered: takes what it tells of the thread's counters. */
void walk_enter_counts(struct trace_walk *walk);
/* walk_ticks.c: begins to count with the start of the chunk; the innermost of the frames, if there
 * are any, is at ADDRESS. */
void walk_start_counts(struct trace_walk *walk, uint64_t address);
/* walk_ticks.c: FRAME, which is new or has called, gets control from other code at PIECE. UNWINDS:
 * what it has called is traced, and has not returned. */
void walk_count_entry(struct trace_walk *walk, const struct frame *frame, uint32_t piece,
                      bool unwinds);
/* walk_ticks.c: a signal has interrupted FRAME at ADDRESS. Returns the ticks that do not count up
 * to walk_resume_counts. */
uint64_t walk_interrupt_counts(struct trace_walk *walk, const struct frame *frame,
                               uint64_t address);
/* walk_ticks.c: a handler, the innermost of the frames, has returned; it is not known if there are
 * none. */
void walk_resume_counts(struct trace_walk *walk);

/* walk_accesses.c: adds to the walk's step what the instruction accesses; NEXT is the address
 * behind it. */
void take_accesses(struct trace_walk *walk, const struct frame *frame,
                   const struct decoded *decoded, uint64_t next);

#endif
