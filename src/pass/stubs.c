/* stubs.c: positions of code out of line.
 *
 * Stubs are behind the function's fragment, so that they do not divide code that is fetched
 * together. But a conditional jump takes two bytes if its target is within 127 bytes, and six
 * otherwise. In a loop that decides whether the code fits one line of fetched code or needs two. So
 * the stubs of a loop are behind a block that does not fall through, if one is near: below the
 * jump, as late as the reach of the first jump allows; otherwise above it.
 *
 * requires: a plan    maintains: everything
 * Not perfect: sizes are estimates. A wrong one costs some bytes. */
#include "pass/feature.h"
#include "pass/plan.h"

#include <string.h>

enum {
    REACH = 120,   /* of a short jump, minus the error of estimates */
    STUB_SIZE = 12 /* estimate: bytes of an addition and a jump back, without a tail */
};

#define SEPARATOR "; "

/* Whether control may continue from the block's end to the code behind it. */
static bool goes_on(const struct planner *p, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    const struct graph_instruction *last = last_instruction(p->graph, block);
    uint8_t class = last ? last->decoded->class : CLASS_PLAIN;
    return class != CLASS_JUMP && class != CLASS_JUMP_INDIRECT && class != CLASS_RETURN &&
           class != CLASS_STOP;
}

/* Returns the estimated bytes from the end of block INDEX to the next position for stubs, or more
 * than REACH if that is further away. */
static uint32_t bytes_to_next_place(const struct planner *p, uint32_t index) {
    uint32_t size = 0;
    while (!ends_fragment(p, index) && size <= REACH) {
        size += grown_size(p, ++index);
        if (!goes_on(p, index))
            break;
    }
    return size;
}

/* Returns the first waiting stub whose jump reaches the end of block INDEX. Returns the number of
 * waiting stubs if there is none, or if that jump also reaches the next position for stubs. */
static size_t find_first(const struct planner *p, uint32_t index) {
    uint32_t further = bytes_to_next_place(p, index);
    size_t first = 0;
    while (first < p->waiting.count && p->position - p->waiting.data[first].position > REACH)
        first++;
    if (first < p->waiting.count &&
        p->position + further - p->waiting.data[first].position <= REACH)
        return p->waiting.count;
    return first;
}

/* Writes the label that ends the fragment, for tables. LAST_BLOCK is the last block of the
 * fragment. */
static void label_end(struct planner *p, uint32_t last_block) {
    const struct basic_block *block = &p->graph->blocks.data[last_block];
    uint32_t last = block->padding ? block->aligned_by : last_instruction(p->graph, block)->end;
    const struct statement *s = &p->graph->unit->statements.data[last];
    if (p->needs & NEEDS_ENDS)
        insert_behind(
            &p->state->edits, s,
            arena_print(&p->state->unit->arena, ".LQh%u_%u:", p->context.cells, block->fragment));
}

/* Whether .cfi_endproc follows STATEMENT, an instruction of FRAGMENT, with only labels between
 * them. */
static bool ends_unwinding(const struct planner *p, uint32_t fragment, uint32_t statement) {
    const struct unit *unit = p->graph->unit;
    const struct fragment *own = &p->graph->function->fragments.data[fragment];
    const struct section *section = &unit->sections.data[own->section];
    uint32_t s = own->last;
    while (s > own->first && section->statements.data[s - 1] > statement)
        s--;
    for (; s < section->statements.count; s++) {
        const struct statement *next = &unit->statements.data[section->statements.data[s]];
        if (next->kind != STATEMENT_LABEL)
            return next->kind == STATEMENT_DIRECTIVE && statement_is(unit, next, ".cfi_endproc");
    }
    return false;
}

/* Removes an unwinding row at the end of TEXT. At a function's end such a row applies to no
 * instruction, and the assembler of binutils 2.44 makes an SFrame row of it that no linker
 * accepts. */
static void cut_last_row(struct buffer *text) {
    static const char end[] = SEPARATOR ".cfi_restore_state";
    size_t length = strlen(end);
    if (text->count > length && memcmp(text->data + text->count - length, end, length) == 0) {
        text->count -= length;
        text->data[text->count] = '\0';
    }
}

/* Puts TEXT between a .cfi_startproc and a .cfi_endproc of its own. The jumps to TEXT may be inside
 * the function's pair, but TEXT behind it: hand-written code may have .cfi_endproc in front of its
 * last 'ret'. The unwinder then does not know where registers are saved. */
static void unwind_apart(struct buffer *text) {
    struct buffer whole = {0};
    if (!memmem(text->data, text->count, ".cfi_", strlen(".cfi_")))
        return;
    cut_last_row(text);
    buffer_print(&whole, SEPARATOR ".cfi_startproc%s" SEPARATOR ".cfi_endproc", text->data);
    buffer_release(text);
    *text = whole;
}

/* Inserts TEXT, each piece of which begins with a separator, behind the block's last instruction,
 * and releases it. If the block falls through, a jump leads around TEXT. */
static void write_behind(struct planner *p, uint32_t index, struct buffer *text) {
    struct buffer whole = {0};
    if (!text->count)
        return;
    uint32_t label = ++p->state->labels;
    const struct basic_block *block = &p->graph->blocks.data[index];
    const struct graph_instruction *last = last_instruction(p->graph, block);
    if (!statement_of(p, last)->unwinds)
        unwind_apart(text);
    else if (!goes_on(p, index) && ends_unwinding(p, block->fragment, last->statement))
        cut_last_row(text);
    if (p->copied || p->graph->unit->numbered)
        write_line_again(p, text, last);
    if (goes_on(p, index))
        buffer_print(&whole, "jmp .LQe%u%s; .LQe%u:", label, text->data, label);
    else
        buffer_text(&whole, text->data + strlen(SEPARATOR));
    insert_after(p, last, &whole);
    buffer_release(text);
}

/* Inserts the waiting stubs, from byte START on, behind the block. */
static void write_waiting(struct planner *p, uint32_t index, size_t start) {
    struct buffer text = {0};
    buffer_add(&text, p->stubs.data + start, p->stubs.count - start);
    p->stubs.count = start;
    write_behind(p, index, &text);
}

/* Whether SIZE bytes of stubs of block INDEX, which ends at POSITION, must be put at the last
 * position above it: that one is in reach, and none below is. */
static bool goes_above(const struct planner *p, uint32_t index, uint32_t position, uint32_t size) {
    return p->place != NONE && bytes_to_next_place(p, index) > REACH &&
           position + size - p->place_position <= REACH;
}

bool is_stub_far(const struct planner *p, uint32_t index, uint32_t ahead) {
    if (!p->graph->blocks.data[index].loop_depth)
        return ahead + bytes_to_end(p, index) > SHORT_REACH;
    return ahead + bytes_to_next_place(p, index) > SHORT_REACH &&
           !goes_above(p, index, p->position + grown_size(p, index), STUB_SIZE);
}

/* Puts the stubs of block INDEX, the last block that was written, at the last position above it.
 * They begin at byte START. Returns false if they do not belong there. */
static bool place_above(struct planner *p, uint32_t index, size_t start, uint32_t size) {
    if (!goes_above(p, index, p->position, size))
        return false;
    p->position += size;
    write_waiting(p, p->place, start);
    return true;
}

/* Puts the stubs of the block behind the fragment or at the last position above, or lets them wait
 * for the next position. */
static void sort_stubs(struct planner *p, uint32_t index) {
    size_t start = p->waiting.count ? p->waiting.data[p->waiting.count - 1].end : 0;
    uint32_t size = STUB_SIZE + p->tail_size;
    p->tail_size = 0;
    p->position += grown_size(p, index);
    if (p->stubs.count == start)
        return;
    if (!p->graph->blocks.data[index].loop_depth) {
        buffer_add(&p->far_stubs, p->stubs.data + start, p->stubs.count - start);
        p->stubs.count = start;
    } else if (!place_above(p, index, start, size)) {
        vector_push(
            p->graph->arena, &p->waiting,
            ((struct waiting_stub){.end = p->stubs.count, .position = p->position, .size = size}));
    }
}

static void place_at_end(struct planner *p, uint32_t index) {
    uint32_t last = index;
    while (p->graph->blocks.data[last].padding)
        last--;
    RUN_CODE_HOOKS(p->state, end_fragment, p);
    buffer_add(&p->far_stubs, p->stubs.data, p->stubs.count);
    buffer_add(&p->far_stubs, p->tests.data, p->tests.count);
    write_behind(p, last, &p->far_stubs);
    label_end(p, index);
    p->stubs.count = p->waiting.count = p->tests.count = 0;
    p->position = 0;
    p->place = NONE;
}

/* Inserts waiting stubs behind block INDEX, which does not fall through. */
static void place_waiting(struct planner *p, uint32_t index) {
    size_t first = find_first(p, index);
    p->place = index;
    p->place_position = p->position;
    if (first == p->waiting.count)
        return;
    for (size_t i = first; i < p->waiting.count; i++)
        p->position += p->waiting.data[i].size;
    write_waiting(p, index, first ? p->waiting.data[first - 1].end : 0);
    p->waiting.count = first;
}

void place_stubs(struct planner *p, uint32_t index) {
    sort_stubs(p, index);
    p->ends[index] = p->position;
    if (ends_fragment(p, index))
        place_at_end(p, index);
    else if (!goes_on(p, index))
        place_waiting(p, index);
}
