/* measure.h: what the machine makes of the unit's text.
 *
 * No table of instructions is kept anywhere: the real assembler assembles the text, and the bytes
 * tell what each statement does, how long it is, and where padding went. */
#ifndef QUIPU_X86_MEASURE_H
#define QUIPU_X86_MEASURE_H

#include "asm/unit.h"
#include "x86/decode.h"

/* By statement, filled in for the statements of functions that are not left alone. */
struct machine_code {
    struct decoded *decoded; /* instructions; size counts prefix statements before it, too */
    uint32_t *offset;        /* in its section: of an instruction's first byte (its prefixes
                                included), or of an alignment's padding */
    const uint8_t **bytes;   /* an alignment's padding */
    uint32_t *padding;       /* an alignment's padding, bytes */
};

/* The instruction at POSITION of the fragment's section, or NULL where there is none that a person
 * wrote.  A prefix that is a statement of its own counts as one that does nothing. */
static inline const struct decoded *
hand_written_at(const struct unit *unit, const struct fragment *fragment, uint32_t position) {
    uint32_t index = unit->sections.data[fragment->section].statements.data[position];
    const struct statement *s = &unit->statements.data[index];
    bool written = s->kind == STATEMENT_INSTRUCTION && is_hand_written(unit, s);
    return written ? &unit->code->decoded[index] : NULL;
}

/* Assembles the unit by ASSEMBLER (argv without input and output, NULL-terminated) and reads it
 * back.  Functions whose bytes do not match their text are left alone.  Returns false where the
 * assembler refuses the text: the caller runs it on the original, for its messages. */
bool measure_unit(struct unit *unit, char *const *assembler);

#endif
