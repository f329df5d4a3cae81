/* emit.h: the unit's text with edits.  What no edit touches comes out byte for byte, and on the
 * same line: insertions join the line with ';', so messages and `as -g` keep the user's lines. */
#ifndef QUIPU_ASM_EMIT_H
#define QUIPU_ASM_EMIT_H

#include "asm/unit.h"
#include "util/buffer.h"

struct edit {
    uint32_t at;      /* offset in the text */
    uint32_t removed; /* bytes of it that go */
    uint32_t order;   /* among edits at one offset: as they were made */
    const char *text; /* what comes instead; in the arena */
};

struct edit_list {
    struct arena *arena;
    VECTOR(struct edit) edits;
};

/* Puts TEXT before STATEMENT, on its line.  TEXT is whole statements joined by ';'. */
void insert_before(struct edit_list *list, const struct statement *statement, const char *text);

/* Puts TEXT behind STATEMENT, on its line. */
void insert_behind(struct edit_list *list, const struct statement *statement, const char *text);

/* Replaces the COUNT bytes at offset AT by TEXT. */
void replace_text(struct edit_list *list, uint32_t at, uint32_t count, const char *text);

/* Appends the edited text to OUT.  Edits must not overlap. */
void emit_unit(const struct unit *unit, struct edit_list *list, struct buffer *out);

#endif
