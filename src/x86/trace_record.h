/* trace_record.h: inserted code that records for traces. format/trace.h is the contract. */
#ifndef QUIPU_X86_TRACE_RECORD_H
#define QUIPU_X86_TRACE_RECORD_H

#include "format/trace_heads.h"
#include "x86/access.h"
#include "x86/sequence.h"

/* A record. */
struct trace_code {
    bool sync;          /* it names its own code; otherwise it is a witness */
    bool repeated;      /* a sync without its stack pointer, which is that of the last time */
    uint32_t id;        /* of a witness; see format/trace_heads.h */
    uint32_t label;     /* number of the labels at the begin (.LQw) and end (.LQx) of its code */
    uint16_t registers; /* whose values it has */
    uint16_t narrow;    /* of those, only the lower halves */
    unsigned vector_count;
    struct access_vector vectors[ACCESS_VECTORS_MAX]; /* whose values it has, too */
    bool shared;   /* the code may be linked into a shared object */
    bool held;     /* %r11 is the thread's cursor, as a record before has left it */
    bool tested;   /* whether there is room is tested, even if flags are live */
    bool roomy;    /* a record before has made sure of room: no test */
    bool repeats;  /* a sync that leaves out its stack pointer and its 8-byte values if they are
                      those of the last time */
    uint32_t last; /* the place of the first of these (QUIPU_TRACE_LAST_VALUES) */
};

/* Returns what the record has behind its head. */
struct quipu_trace_form trace_record_form(const struct trace_code *code);

/* Returns the size of a record in bytes. */
unsigned trace_record_size(const struct trace_code *code);

/* Whether the record is a sync whose code can tell that its values are those of the last time. */
bool trace_record_may_repeat(const struct trace_code *code, const struct clobbers *clobbers);

/* Returns the same record without these values. */
struct trace_code repeated_record(const struct trace_code *code);

/* Whether the record's code may have the cursor in %r11, and leaves it there. */
bool trace_record_holds(const struct trace_code *code, const struct clobbers *clobbers);

/* Writes a record. Changes only what CLOBBERS allows. */
void write_trace_record(struct buffer *out, const struct code_context *context,
                        const struct trace_code *code, const struct clobbers *clobbers);

/* At the begin of a function that the kernel may call as a signal handler: calls the runtime if it
 * has. Changes flags and register SCRATCH; -1: no register is free. */
void write_trace_handler_test(struct buffer *out, const struct code_context *context,
                              const struct load_place *place, int scratch);

/* Instead of a jump out of a function, whose unwinder's row at the jump is FRAME: calls CALLEE, or
 * what its slot leads to. write_tail_return goes back to the function's caller. Between them the
 * stack pointer is 8 bytes lower. */
void write_tail_call(struct buffer *out, const struct frame_row *frame, struct span callee,
                     bool slot);
void write_tail_return(struct buffer *out, const struct frame_row *frame);

/* Returns the registers that a called function may change. */
uint16_t registers_of_callee(void);

#endif
