/* emit.h: the unit's text with edits. All other text is output byte for byte, and on the same line:
 * insertions are joined to a line with ';'. So messages and `as -g` use the user's line numbers. If
 * the assembler counts the lines (unit.numbered), insertions may have lines of their own: line
 * markers (locations.h), the last of which leads back to the user's line. */
#ifndef QUIPU_ASM_EMIT_H
#define QUIPU_ASM_EMIT_H

#include "asm/unit.h"
#include "util/buffer.h"

struct edit {
    uint32_t at;      /* offset in the text */
    uint32_t removed; /* number of bytes that are removed */
    uint32_t order;   /* order of edits at one offset: as they were made */
    const char *text; /* the new text, in the arena */
};

struct edit_list {
    struct arena *arena;
    VECTOR(struct edit) edits;
};

/* Inserts TEXT before STATEMENT, on its line. TEXT is whole statements joined by ';'. */
void insert_before(struct edit_list *list, const struct statement *statement, const char *text);

/* Inserts TEXT behind STATEMENT, on its line. */
void insert_behind(struct edit_list *list, const struct statement *statement, const char *text);

/* Replaces the COUNT bytes at offset AT by TEXT. */
void replace_text(struct edit_list *list, uint32_t at, uint32_t count, const char *text);

/* Appends the edited text to OUT. Edits must not overlap. */
void emit_unit(const struct unit *unit, struct edit_list *list, struct buffer *out);

#endif
