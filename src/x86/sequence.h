/* sequence.h: the instructions that are inserted, as text.
 *
 * AT&T syntax, joined by ';', on one line.  The contract with the runtime is data/format.h,
 * section 3. */
#ifndef QUIPU_X86_SEQUENCE_H
#define QUIPU_X86_SEQUENCE_H

#include "asm/frames.h"
#include "util/buffer.h"
#include "x86/decode.h"

#include <stdbool.h>
#include <stdint.h>

/* What leads to the thread's cells: a register that holds their address, or the base of %gs, which
 * is the thread's distance from the static cells. */
enum {
    BASE_SEGMENT = 16
};

/* -ffixed-r11 keeps it free for the base, in code for shared objects. */
#define RESERVED_REGISTERS REGISTER_R11

/* Common to all sequences of one function. */
struct code_context {
    uint32_t cells;       /* number of the function's cells label */
    uint32_t *labels;     /* counter of labels in the unit */
    struct buffer *stubs; /* what goes behind the function's last instruction */
};

/* What may be changed where an increment goes. */
struct quiet {
    int base;             /* register that is to hold the thread's cells, or BASE_SEGMENT */
    bool base_holds;      /* it does */
    bool base_free;       /* it may be loaded */
    uint16_t free;        /* registers that may be changed */
    bool flags_free;      /* all flags may be changed */
    bool flags_but_carry; /* all flags but carry may be changed */
    struct frame_row frame;
};

/* Where a base is loaded. */
struct load_place {
    struct frame_row frame;
    bool at_entry; /* the function has just been called: nothing is below the stack pointer */
};

/* Makes BASE lead to the thread's cells.  Changes flags. */
void write_load(struct buffer *out, const struct code_context *context, int base,
                const struct load_place *place);

/* Adds one to cell CELL (1 ...).  Changes nothing that QUIET does not allow.  Returns whether the
 * base register holds the thread's cells behind it. */
bool write_increment(struct buffer *out, const struct code_context *context, uint32_t cell,
                     const struct quiet *quiet);

/* Bytes of an increment where no flags and no registers are kept; at most 3 more by a register. */
uint32_t increment_size(int base);

/* Unwinding directives for a stub that runs with FRAME, out of its place in the text. */
void write_frame(struct buffer *out, const struct frame_row *frame, int64_t pushed);
void write_frame_end(struct buffer *out, const struct frame_row *frame);

/* The cells of a function: COUNT of them, and their labels, in the present section. */
void write_cells(struct buffer *out, uint32_t label, uint32_t count);

/* The conditional jump with the opposite condition: "jne" for "je".  NULL where the COUNT bytes at
 * MNEMONIC are no plain conditional jump. */
const char *inverted_condition(const char *mnemonic, size_t count);

/* The register of the candidates that is best as base comes first. */
enum {
    BASE_CANDIDATES = 9
};
extern const uint8_t base_candidates[BASE_CANDIDATES];

#endif
