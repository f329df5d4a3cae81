/* text.c: edits at instructions, and copies of the text of instructions, for the other files of the
 * pass.
 *
 * requires: a plan    maintains: everything */
#include "pass/plan.h"

#include <string.h>

/* ---- edits ---- */

/* Returns TEXT, in the unit's arena, and releases it. Inserted text is in AT&T syntax, also if the
 * text around it is not. */
static const char *finished(const struct planner *p, const struct statement *around,
                            struct buffer *text) {
    struct arena *arena = &p->state->unit->arena;
    const char *result =
        around->intel
            ? arena_print(arena, ".att_syntax prefix; %s; .intel_syntax noprefix", text->data)
            : arena_copy(arena, text->data, text->count);
    buffer_release(text);
    return result;
}

void insert_at(struct planner *p, const struct graph_instruction *instruction,
               struct buffer *text) {
    const struct statement *s = &p->graph->unit->statements.data[instruction->place];
    insert_before(&p->state->edits, s, finished(p, s, text));
}

void insert_after(struct planner *p, const struct graph_instruction *instruction,
                  struct buffer *text) {
    const struct statement *s = &p->graph->unit->statements.data[instruction->end];
    insert_behind(&p->state->edits, s, finished(p, s, text));
}

void insert_before_padding(struct planner *p, const struct basic_block *padding,
                           struct buffer *text) {
    const struct statement *s = &p->graph->unit->statements.data[padding->aligned_by];
    insert_before(&p->state->edits, s, finished(p, s, text));
}

void insert_before_label(struct planner *p, uint32_t label, struct buffer *text) {
    const struct statement *s = &p->graph->unit->statements.data[label];
    insert_before(&p->state->edits, s, finished(p, s, text));
}

struct frame_row frame_before_padding(const struct planner *p, const struct basic_block *padding) {
    return p->graph->rows.data[p->row_of[padding->aligned_by]];
}

/* ---- operands of branches ---- */

static bool is_numeric(const struct symbol *symbol) {
    return memchr(symbol->name, '\001', symbol->length) != NULL;
}

struct span branch_operand(const struct planner *p, const struct statement *statement) {
    const struct unit *unit = p->graph->unit;
    const struct symbol *symbol = &unit->symbols.data[statement->symbol];
    const char *start = unit->text + statement->start, *end = unit->text + statement->end;
    if (is_numeric(symbol)) { /* 1b, 1f */
        const char *c = end;
        while (c > start && (c[-1] == ' ' || c[-1] == '\t'))
            c--;
        end = c--;
        while (c > start && c[-1] >= '0' && c[-1] <= '9')
            c--;
        return (struct span){c, (size_t)(end - c)};
    }
    /* the last occurrence: mnemonics come first, and a suffix such as @PLT does not repeat it */
    const char *found = start;
    for (const char *c = start; c + symbol->length <= end; c++)
        if (memcmp(c, symbol->name, symbol->length) == 0)
            found = c;
    size_t quote = found > start && found[-1] == '"';
    return (struct span){found - quote, symbol->length + 2 * quote};
}

const char *portable_operand(struct planner *p, const struct statement *branch,
                             struct span operand) {
    const struct unit *unit = p->graph->unit;
    struct arena *arena = &p->state->unit->arena;
    const struct symbol *symbol = &unit->symbols.data[branch->symbol];
    if (!is_numeric(symbol) || symbol->statement == NONE)
        return arena_copy(arena, operand.start, (size_t)(unit->text + branch->end - operand.start));
    uint32_t *named = &p->state->named[branch->symbol];
    if (!*named) {
        *named = ++p->state->labels;
        insert_before(&p->state->edits, &unit->statements.data[symbol->statement],
                      arena_print(arena, ".LQg%u:", *named));
    }
    return arena_print(arena, ".LQg%u", *named);
}

/* ---- copies of text ---- */

void write_instruction(const struct planner *p, struct buffer *out,
                       const struct graph_instruction *instruction) {
    const struct unit *unit = p->graph->unit;
    for (uint32_t s = instruction->first_statement; s <= instruction->statement; s++) {
        const struct statement *statement = &unit->statements.data[s];
        if (statement->kind != STATEMENT_INSTRUCTION)
            continue;
        buffer_add(out, unit->text + statement->start, statement->end - statement->start);
        buffer_text(out, "; ");
    }
}

/* Returns the function's first label in the text. A fragment of the function may be above its
 * entry. */
static const struct statement *first_label(const struct planner *p) {
    const struct unit *unit = p->graph->unit;
    const struct statement *first = NULL;
    for (size_t f = 0; f < p->graph->function->fragments.count; f++) {
        const struct statement *label =
            fragment_label(unit, &p->graph->function->fragments.data[f]);
        if (!first || label->start < first->start)
            first = label;
    }
    return first;
}

/* Compilers write .file directly in front of the first line of that file. A copy may be above it.
 * Then .file is moved to the begin of the function. */
static void move_file_up(const struct planner *p, uint32_t number) {
    struct pass_state *state = p->state;
    const struct statement *file = numbered_file(state->unit, number);
    const struct statement *label = first_label(p);
    if (!file || file->start < label->start || state->moved_files[number])
        return;
    if (number) /* file 0 selects DWARF 5, which allows a checksum in the others */
        move_file_up(p, 0);
    state->moved_files[number] = true;
    uint32_t length = file->end - file->start;
    insert_before(&state->edits, label,
                  arena_copy(&state->unit->arena, state->unit->text + file->start, length));
    replace_text(&state->edits, file->start, length, ";");
}

void write_counted_line(const struct planner *p, struct buffer *out,
                        const struct graph_instruction *instruction) {
    if (p->graph->unit->numbered)
        write_marker(out, p->graph->unit, instruction->statement);
}

void set_counted_line(struct planner *p, const struct graph_instruction *instruction) {
    struct buffer line = {0};
    write_counted_line(p, &line, instruction);
    p->context.line = line.count ? arena_copy(p->graph->arena, line.data, line.count) : NULL;
    buffer_release(&line);
}

void write_changes(const struct planner *p, struct buffer *out,
                   const struct graph_instruction *before,
                   const struct graph_instruction *instruction) {
    const struct unit *unit = p->graph->unit;
    const struct location *location = location_of(unit, instruction->statement);
    if (unit->numbered &&
        (!before || !is_one_line(unit, before->statement, instruction->statement)))
        write_marker(out, unit, instruction->statement);
    if (location && (!before || location != location_of(unit, before->statement))) {
        move_file_up(p, location_file(unit, location));
        write_location(out, unit, location, &p->state->labels);
        buffer_text(out, "; ");
    }
    if (before && p->row_of[instruction->first_statement] != p->row_of[before->first_statement]) {
        struct frame_row frame = frame_at(p, instruction);
        write_frame_change(out, &frame);
    }
}

void write_line_again(const struct planner *p, struct buffer *out,
                      const struct graph_instruction *instruction) {
    const struct unit *unit = p->graph->unit;
    const struct location *location = location_of(unit, instruction->statement);
    if (!location && !unit->numbered)
        return;
    buffer_text(out, "; ");
    if (location) {
        write_location(out, unit, location, &p->state->labels);
    } else { /* the label: a comment that follows does not become a line marker */
        write_marker(out, unit, instruction->end);
        buffer_print(out, ".LQl%u:", ++p->state->labels);
    }
}
