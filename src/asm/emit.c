/* emit.c: the unit's text with edits; see emit.h. */
#include "asm/emit.h"

#include "util/diag.h"

#include <stdlib.h>

static void add_edit(struct edit_list *list, uint32_t at, uint32_t removed, const char *text) {
    vector_push(list->arena, &list->edits,
                ((struct edit){at, removed, (uint32_t)list->edits.count, text}));
}

void insert_before(struct edit_list *list, const struct statement *statement, const char *text) {
    add_edit(list, statement->start, 0, arena_print(list->arena, "%s; ", text));
}

void insert_behind(struct edit_list *list, const struct statement *statement, const char *text) {
    const char *form = statement->kind == STATEMENT_LABEL ? "; %s;" : "; %s"; /* more statements
                                                                                 may follow on
                                                                                 the line */
    add_edit(list, statement->end, 0, arena_print(list->arena, form, text));
}

void replace_text(struct edit_list *list, uint32_t at, uint32_t count, const char *text) {
    add_edit(list, at, count, text);
}

/* Insertions before a piece of text stay before it if the piece is replaced. */
static int compare_edits(const void *left, const void *right) {
    const struct edit *a = left, *b = right;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (!a->removed != !b->removed)
        return a->removed ? 1 : -1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void emit_unit(const struct unit *unit, struct edit_list *list, struct buffer *out) {
    if (list->edits.count)
        qsort(list->edits.data, list->edits.count, sizeof *list->edits.data, compare_edits);
    size_t done = 0;
    for (size_t i = 0; i < list->edits.count; i++) {
        const struct edit *edit = &list->edits.data[i];
        CHECK(edit->at >= done && edit->at + edit->removed <= unit->size);
        buffer_add(out, unit->text + done, edit->at - done);
        buffer_text(out, edit->text);
        done = edit->at + edit->removed;
    }
    buffer_add(out, unit->text + done, unit->size - done);
}
