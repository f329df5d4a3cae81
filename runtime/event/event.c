/* event.c: event counts that the program itself requests by include/quipu.h.
 *
 * Ball 1994: the count at any instruction is the sum of the cell and that instruction's query
 * increment. During a call the increment is 0, so quipu_events reads only the cells. For an
 * interrupted instruction, the tables of format/event.h have the increment. A handler is
 * instrumented, too. So functions that request counts save the cells' values when the kernel has
 * called them (signal.S).
 *
 * Nothing here calls the C library or takes a lock.
 *
 * Not perfect: the counts are those of the module that requests them. */
#include "format/event.h"
#include "runtime/core/text.h"
#include "runtime/event/event.h"

#include <ucontext.h>

enum {
    UNKNOWN = 0,
    COUNTED,
    NOT_COUNTED,
};

#define NOT_INSTRUMENTED UINT64_MAX

extern const char quipu_kinds_begin[], quipu_kinds_end[];

uint64_t quipu_runtime_events(unsigned kind);
uint64_t quipu_runtime_events_at(unsigned kind, const void *context);
unsigned quipu_runtime_kind(const char *name);
void quipu_note_signal(const void *context);

static const uint8_t *table_of(const struct quipu_range *range) {
    return (const uint8_t *)&range->table + range->table;
}

static bool open_table(struct quipu_table *table, const struct quipu_range *range, uint32_t kind) {
    return quipu_open_table(table, table_of(range), NULL, (const uint8_t *)UINTPTR_MAX, kind);
}

bool quipu_is_counted(uint32_t kind) {
    static uint8_t known[QUIPU_EVENTS];
    struct quipu_table table;
    if (kind >= QUIPU_EVENTS)
        return false;
    if (known[kind] == UNKNOWN) {
        uint64_t i = 0;
        while (i < range_count() && !open_table(&table, &quipu_ranges_begin[i], kind))
            i++;
        known[kind] = i < range_count() ? COUNTED : NOT_COUNTED;
    }
    return known[kind] == COUNTED;
}

uint64_t quipu_runtime_events(unsigned kind) {
    if (!quipu_is_counted(kind))
        return NOT_INSTRUMENTED;
    return count_in(own_block(), kind);
}

int64_t quipu_sum_of(uint64_t address, uint64_t rcx, uint32_t kind) {
    struct quipu_table table;
    const struct quipu_range *range = quipu_find_range(address);
    if (!range || !open_table(&table, range, kind))
        return 0;
    return quipu_sum_at(&table, (uint32_t)(address - range_start(range)), rcx);
}

uint64_t quipu_runtime_events_at(unsigned kind, const void *context) {
    if (!quipu_is_counted(kind))
        return NOT_INSTRUMENTED;
    const struct event_block *block = own_block();
    const ucontext_t *interrupted = context;
    uint64_t address = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
    uint64_t rcx = (uint64_t)interrupted->uc_mcontext.gregs[REG_RCX];
    for (int i = 0; i < QUIPU_EVENT_SNAPSHOTS; i++)
        if (block->snapshots[i].context == (uint64_t)context)
            return block->snapshots[i].counts[kind] + (uint64_t)quipu_sum_of(address, rcx, kind);
    return NOT_INSTRUMENTED; /* the function that the kernel has called did not save the counts */
}

/* ---- names ---- */

struct kind_name {
    unsigned kind;
    const char *name, *pattern;
    const char *behind;
};

static struct kind_name read_name(const char *record) {
    struct kind_name read = {.kind = (unsigned char)record[0], .name = record + 1};
    read.pattern = read.name + text_length(read.name) + 1;
    read.behind = read.pattern + text_length(read.pattern) + 1;
    return read;
}

/* The linker joins the contents between two objects' symbols to one array. */
static bool is_end(const char *record) {
    return (uintptr_t)record >= (uintptr_t)quipu_kinds_end;
}

/* Whether all units use this name and this number for the same class. */
static bool is_sure(const struct kind_name *wanted) {
    for (const char *next = quipu_kinds_begin; !is_end(next);) {
        struct kind_name other = read_name(next);
        bool named = text_equal(other.name, wanted->name), numbered = other.kind == wanted->kind;
        if (named != numbered || (named && !text_equal(other.pattern, wanted->pattern)))
            return false;
        next = other.behind;
    }
    return true;
}

/* Returns QUIPU_EVENTS if no kind has this name. */
unsigned quipu_runtime_kind(const char *name) {
    for (const char *next = quipu_kinds_begin; !is_end(next);) {
        struct kind_name read = read_name(next);
        if (text_equal(read.name, name))
            return is_sure(&read) ? read.kind : QUIPU_EVENTS;
        next = read.behind;
    }
    return QUIPU_EVENTS;
}

void quipu_begin_events(char *cells) {
    if (!IS_LINKED(quipu_event_cells))
        return;
    struct event_block *block =
        (void *)(cells + ((uint64_t)&quipu_event_cells - (uint64_t)quipu_cells_begin));
    for (int i = 0; i < QUIPU_EVENTS; i++)
        block->earlier[i] = sum_lanes(block, (uint32_t)i);
    if (IS_LINKED(quipu_begin_ticks) && quipu_is_counted(QUIPU_EVENT_TICKS))
        quipu_begin_ticks(block);
}

void quipu_fold_events(void) {
    if (!IS_LINKED(quipu_event_cells))
        return;
    struct event_block *block = &quipu_event_cells;
    uint64_t base = block->base + sum_lanes(block, QUIPU_EVENT_TICKS);
    for (uint64_t *word = block->earlier; word < (uint64_t *)(block + 1); word++)
        *word = 0;
    block->base = base;
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++)
        block->cells[quipu_first_cell(QUIPU_EVENT_TICKS) + lane] = 0;
}

void quipu_add_early_events(void) {
    if (IS_LINKED(quipu_event_cells) && IS_LINKED(quipu_add_early_ticks) &&
        quipu_is_counted(QUIPU_EVENT_TICKS))
        quipu_add_early_ticks();
}

/* The kernel has just called a handler. */
void quipu_note_signal(const void *context) {
    struct event_block *block = own_block();
    uint64_t found = 0;
    while (found < QUIPU_EVENT_SNAPSHOTS && block->snapshots[found].context != (uint64_t)context)
        found++;
    if (found == QUIPU_EVENT_SNAPSHOTS) {
        found = block->next % QUIPU_EVENT_SNAPSHOTS;
        block->next = found + 1;
    }
    /* a signal meanwhile finds the entry without a context, or complete */
    block->snapshots[found].context = 0;
    for (int i = 0; i < QUIPU_EVENTS; i++)
        block->snapshots[found].counts[i] = count_in(block, (uint32_t)i);
    block->snapshots[found].context = (uint64_t)context;
}
