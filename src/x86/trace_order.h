/* trace_order.h: inserted code that takes tickets for the order of threads in traces.
 * format/trace.h is the contract. */
#ifndef QUIPU_X86_TRACE_ORDER_H
#define QUIPU_X86_TRACE_ORDER_H

#include "x86/sequence.h"

/* On which sides of an instruction or of a call tickets are taken. */
enum ticket_sides {
    TICKET_IN_FRONT = 1, /* it may release: hand memory to other threads */
    TICKET_BEHIND = 2,   /* it may acquire: get memory from them */
};

/* Returns the sides at which the instruction itself needs tickets: enum ticket_sides. Calls need
 * none here: what they need depends on their callee. */
unsigned ticket_sides_of(const struct decoded *decoded);

/* A site. */
struct order_code {
    uint32_t label; /* number of the label at its address (.LQo) */
    bool shared;    /* the code may be linked into a shared object */
    bool always;    /* also if the thread shares memory with nobody */
};

/* Writes a site in front of a call, or of a jump if it JUMPS, to the known function with the number
 * ROW. LABEL: as above. The red zone is not in use there. */
void write_measure_site(struct buffer *out, uint32_t label, uint32_t row, bool jumps);

/* Writes a site in front of a system call. */
void write_system_call_site(struct buffer *out, uint32_t label, const struct frame_row *frame);

/* Writes a site. Changes only what CLOBBERS allows. */
void write_order_site(struct buffer *out, const struct code_context *context,
                      const struct order_code *code, const struct clobbers *clobbers);

#endif
