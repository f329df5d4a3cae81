/* measure.h: the machine code of the unit's text.
 *
 * quipu has no table of instructions. The real assembler assembles the text. The bytes show what
 * each statement does, how long it is, and where padding is. */
#ifndef QUIPU_X86_MEASURE_H
#define QUIPU_X86_MEASURE_H

#include "asm/unit.h"
#include "x86/decode.h"

/* By statement, filled in for the statements of functions that are not left alone. */
struct machine_code {
    struct decoded *decoded; /* instructions; size includes that of prefix statements before it */
    uint32_t *offset; /* in its section: of an instruction's first byte, prefixes included, or of an
                         alignment's padding */
    const uint8_t **bytes; /* an alignment's padding */
    uint32_t *padding;     /* size of an alignment's padding in bytes */
};

/* Returns the instruction at POSITION of the fragment's section, or NULL if there is none that was
 * written by hand. A prefix that is a statement of its own counts as an instruction without
 * effects. */
static inline const struct decoded *
hand_written_at(const struct unit *unit, const struct fragment *fragment, uint32_t position) {
    uint32_t index = unit->sections.data[fragment->section].statements.data[position];
    const struct statement *s = &unit->statements.data[index];
    bool written = s->kind == STATEMENT_INSTRUCTION && is_hand_written(unit, s);
    return written ? &unit->code->decoded[index] : NULL;
}

/* Assembles the unit by ASSEMBLER (argv without input and output, NULL-terminated) and reads the
 * object. Leaves functions alone whose bytes do not match their text. Returns false if the
 * assembler rejects the text. The caller then runs it on the original text, for its messages. */
bool measure_unit(struct unit *unit, char *const *assembler);

#endif
