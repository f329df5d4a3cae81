/* frames.c: the unwinding row of each instruction, from the .cfi_ directives; see frames.h.
 *
 * Rows contain only what inserted code needs: the register and offset of the CFA. The positions of
 * saved registers do not change within a stub.
 *
 * Not perfect: .cfi_escape may redefine the CFA. The rows behind it are unknown until the next
 * .cfi_def_cfa. */
#include "asm/frames.h"

#include "asm/lex.h"

#include <stdlib.h>
#include <string.h>

enum {
    REMEMBERED = 16
};

struct reader {
    struct frame_row row;
    struct frame_row remembered[REMEMBERED];
    unsigned depth;
};

static void set_base(struct frame_row *row, struct span name) {
    size_t length = name.length < sizeof row->base - 1 ? name.length : sizeof row->base - 1;
    memcpy(row->base, name.start, length);
    row->base[length] = '\0';
    const char *base = row->base + (row->base[0] == '%');
    row->by_rsp = strcmp(base, "rsp") == 0 || strcmp(base, "7") == 0;
    row->by_rbp = strcmp(base, "rbp") == 0 || strcmp(base, "6") == 0;
}

static int64_t number(struct span text) {
    char digits[32] = "";
    if (text.length < sizeof digits)
        memcpy(digits, text.start, text.length);
    return strtoll(digits, NULL, 0);
}

/* Returns whether the row changed. */
static bool read_directive(struct reader *reader, struct span text) {
    struct span word = first_word(text);
    struct cursor cursor = cursor_over(behind(text, word));
    struct span first = next_argument(&cursor), second = next_argument(&cursor);
    struct frame_row *row = &reader->row;
    if (span_is(word, ".cfi_startproc")) {
        *row = (struct frame_row){.known = true, .offset = 8};
        set_base(row, (struct span){"%rsp", 4});
        reader->depth = 0;
    } else if (span_is(word, ".cfi_endproc")) {
        row->known = false;
    } else if (span_is(word, ".cfi_def_cfa")) {
        set_base(row, first);
        row->offset = number(second);
        row->known = true;
    } else if (span_is(word, ".cfi_def_cfa_register")) {
        set_base(row, first);
    } else if (span_is(word, ".cfi_def_cfa_offset")) {
        row->offset = number(first);
    } else if (span_is(word, ".cfi_adjust_cfa_offset")) {
        row->offset += number(first);
    } else if (span_is(word, ".cfi_remember_state")) {
        if (reader->depth < REMEMBERED)
            reader->remembered[reader->depth++] = *row;
        return false;
    } else if (span_is(word, ".cfi_restore_state")) {
        if (reader->depth)
            *row = reader->remembered[--reader->depth];
    } else if (span_is(word, ".cfi_escape")) {
        row->known = false;
    } else {
        return false;
    }
    return true;
}

void find_frames(const struct unit *unit, const struct fragment *fragment, struct arena *arena,
                 frame_rows *rows, uint32_t *row_of) {
    struct reader reader = {0};
    const uint32_t *list = unit->sections.data[fragment->section].statements.data;
    uint32_t start = fragment->first; /* the .cfi_startproc of f.cold is before its label */
    while (start > 0 && unit->statements.data[list[start - 1]].kind == STATEMENT_DIRECTIVE)
        start--;
    vector_push(arena, rows, reader.row);
    for (uint32_t s = start; s < fragment->last; s++) {
        const struct statement *statement = &unit->statements.data[list[s]];
        row_of[list[s]] = (uint32_t)rows->count - 1;
        if (statement->kind != STATEMENT_DIRECTIVE)
            continue;
        struct span text = {unit->text + statement->start, statement->end - statement->start};
        if (read_directive(&reader, text))
            vector_push(arena, rows, reader.row);
    }
}
