/* checks.c: checks of stores, for watched memory (Wahbe, Lucco and Graham 1993, sections 2 and 3).
 *
 * A check is before each store. If the store may touch a region, the check jumps out of line, to a
 * copy of the store between two calls of the runtime (x86/store_check.c, format/watch.h).
 *
 * One check may guard several instructions, its *range*. It is before the first one. The code out
 * of line is a copy of all of them, with calls around each store. So
 *   - stores near each other, by the same registers, have one check: one look at the shadow covers
 *     QUIPU_WATCH_SPAN bytes;
 *   - if flags are live or no register is free at a store, its check moves up, over instructions
 *     that do not change the address.
 *
 * Invariants: ranges are disjoint or nested. None contains the position of a counter, a call, or
 * the end of a block. The registers of the address are not written between the check and the last
 * store.
 *
 * requires: a plan, find_liveness    maintains: as insert.c    breaks: as insert.c
 * Not perfect: for `enter` with a level, only the first word is checked. */
#include "pass/watch/watch.h"

#include "asm/operand.h"
#include "x86/store_check.h"

#include <stdlib.h>
#include <string.h>

enum {
    RANGE_MAX = 12, /* instructions, which are written twice */
    RETURN_ADDRESS = 8,
};

/* Instructions [first, last] of the block, and the store that their check tests. */
struct range {
    uint32_t first, last;
    bool joins;          /* other stores may be added: the operand has only numbers and registers */
    struct access store; /* the first one, or one for all bytes */
    int64_t begin, end;  /* displacements of the written bytes: [begin, end) */
    uint32_t statement;  /* whose operand the check uses */
};

struct watcher {
    struct planner *p;
    uint32_t index; /* the block */
    const struct basic_block *block;
    const struct graph_instruction *instructions; /* the block's */
    VECTOR(struct range) ranges;
    bool shares; /* the first check is also the function's entry: see shares_begin */
};

static bool is_checked(const struct graph_instruction *instruction) {
    const struct decoded *decoded = instruction->decoded;
    return decoded->class == CLASS_PLAIN && decoded->store.kind != ACCESS_NONE;
}

/* Includes `enter`, which is never joined with others. */
static bool is_push(const struct graph_instruction *instruction) {
    return instruction->decoded->class == CLASS_PLAIN &&
           instruction->decoded->store.kind == ACCESS_STACK;
}

bool is_plain_push(const struct graph_instruction *instruction) {
    return is_push(instruction) && !instruction->decoded->store.enters;
}

static bool is_call(const struct graph_instruction *instruction) {
    return is_call_class(instruction->decoded->class);
}

/* ---- ranges ---- */

/* Whether a copy of [FIRST, LAST] would skip what is inserted inside them: the block's counter, or
 * code at its top. */
static bool holds_counter(const struct watcher *w, uint32_t first, uint32_t last) {
    uint32_t counter_at = w->p->blocks[w->index].counter_at, top = w->p->blocks[w->index].top;
    return (counter_at > first && counter_at <= last) || (top > first && top <= last);
}

/* Whether [FIRST, LAST] is disjoint from all other ranges, or nested with them. */
static bool nests(const struct watcher *w, uint32_t first, uint32_t last) {
    for (size_t i = 0; i < w->ranges.count; i++) {
        const struct range *other = &w->ranges.data[i];
        if ((other->first < first && other->last >= first && other->last < last) ||
            (other->first > first && other->first <= last && other->last > last))
            return false;
    }
    return true;
}

static bool writes_any(const struct watcher *w, uint32_t from, uint32_t to, uint16_t registers) {
    for (uint32_t i = from; i < to; i++)
        if (w->instructions[i].decoded->registers_written & registers)
            return true;
    return false;
}

/* Whether the operand of instruction INDEX has only registers and a number. */
static bool is_plain_operand(const struct watcher *w, uint32_t index) {
    const struct statement *s = statement_of(w->p, &w->instructions[index]);
    const struct access *store = &w->instructions[index].decoded->store;
    struct span operand;
    if (s->intel || store->kind != ACCESS_PLAIN || store->thread || store->segment ||
        store->absolute || store->implicit || store->pops || store->size > QUIPU_WATCH_SPAN ||
        store->base == NO_REGISTER || !find_memory_operand(w->p->graph->unit, s, &operand))
        return false;
    return is_number_operand(operand);
}

/* Adds the store to an existing range, if possible. */
static bool join_range(struct watcher *w, uint32_t index) {
    const struct access *store = &w->instructions[index].decoded->store;
    if (!is_plain_operand(w, index))
        return false;
    for (size_t i = w->ranges.count; i-- > 0;) {
        struct range *range = &w->ranges.data[i];
        int64_t begin = store->displacement, end = begin + store->size;
        if (!range->joins || !is_same_base(&range->store, store))
            continue;
        begin = begin < range->begin ? begin : range->begin;
        end = end > range->end ? end : range->end;
        if (end - begin > QUIPU_WATCH_SPAN || index - range->first >= RANGE_MAX ||
            writes_any(w, range->first, index, store->registers) ||
            holds_counter(w, range->first, index) || !nests(w, range->first, index))
            continue;
        range->last = index;
        range->begin = begin;
        range->end = end;
        return true;
    }
    return false;
}

static struct clobbers clobbers_in_block(const struct watcher *w, uint32_t index) {
    return clobbers_at(w->p, live_before(w->p->graph, w->block, index), true,
                       frame_at(w->p, &w->instructions[index]), 0);
}

static bool may_clobber(const struct clobbers *clobbers) {
    return clobbers->flags_free && clobbers->free;
}

/* Returns the position of the store's check: before the store, or further up, where a register is
 * free and no flag is live. */
static uint32_t find_place(const struct watcher *w, uint32_t index) {
    uint16_t registers = w->instructions[index].decoded->store.registers;
    for (uint32_t at = index;; at--) {
        struct clobbers clobbers = clobbers_in_block(w, at);
        bool may_stand = code_may_stand(w->p->graph, w->block, at) && nests(w, at, index) &&
                         !(w->shares && at <= w->p->blocks[w->index].top);
        if (may_stand && may_clobber(&clobbers))
            return at;
        if (at == 0 || index - at >= RANGE_MAX || holds_counter(w, at - 1, index) ||
            (w->instructions[at - 1].decoded->registers_written & registers))
            return index;
    }
}

static void add_range(struct watcher *w, uint32_t index) {
    const struct access *store = &w->instructions[index].decoded->store;
    struct range range = {.first = find_place(w, index),
                          .last = index,
                          .joins = is_plain_operand(w, index),
                          .store = *store,
                          .begin = store->displacement,
                          .end = store->displacement + store->size,
                          .statement = w->instructions[index].statement};
    vector_push(w->p->graph->arena, &w->ranges, range);
}

/* Whether the pushes of BEFORE and the push at INDEX can share a check: the instructions between
 * them change neither the stack pointer nor memory. */
static bool joins_pushes(const struct watcher *w, const struct range *before, uint32_t index) {
    if (!is_plain_push(&w->instructions[before->last]) || index - before->first >= RANGE_MAX)
        return false;
    for (uint32_t i = before->last + 1; i < index; i++)
        if (is_checked(&w->instructions[i]) ||
            w->instructions[i].decoded->registers_written & REGISTER_RSP)
            return false;
    return !holds_counter(w, before->first, index) && nests(w, before->first, index);
}

/* Adds a push, and joins it with earlier ones into one store; or adds a call, unless it has its own
 * site (calls.c). */
static void add_pushes(struct watcher *w, uint32_t index) {
    struct range *before = w->ranges.count ? &w->ranges.data[w->ranges.count - 1] : NULL;
    uint16_t size = w->instructions[index].decoded->store.size;
    if (has_call_site(w->p, w->block, &w->instructions[index]))
        return;
    if (before && is_plain_push(&w->instructions[index]) &&
        before->store.size + size <= QUIPU_WATCH_SPAN && joins_pushes(w, before, index)) {
        before->last = index;
        before->store.size = (uint16_t)(before->store.size + size);
        return;
    }
    if (code_may_stand(w->p->graph, w->block, index) && nests(w, index, index)) {
        struct range range = {
            .first = index, .last = index, .store = w->instructions[index].decoded->store};
        vector_push(w->p->graph->arena, &w->ranges, range);
    }
}

/* ---- text ---- */

static bool address_of(const struct planner *p, const struct access *store, uint32_t statement,
                       struct access_address *address) {
    const struct unit *unit = p->graph->unit;
    const struct statement *s = &unit->statements.data[statement];
    *address = (struct access_address){.access = store, .intel = s->intel};
    return store->kind == ACCESS_STACK || store->implicit ||
           find_memory_operand(unit, s, &address->operand);
}

/* Returns the operand of a check of several stores: their first byte. */
static struct span joint_operand(const struct watcher *w, const struct range *range) {
    struct buffer text = {0};
    const struct access *store = &range->store;
    buffer_print(&text, "%lld(%%%s", (long long)range->begin, register_name(store->base));
    if (store->index != NO_REGISTER)
        buffer_print(&text, ",%%%s,%u", register_name(store->index), store->scale);
    buffer_text(&text, ")");
    struct span operand = {arena_copy(&w->p->state->unit->arena, text.data, text.count),
                           text.count};
    buffer_release(&text);
    return operand;
}

static bool is_counted(const struct watcher *w, uint32_t index) {
    return index >= w->p->blocks[w->index].counter_at;
}

/* Writes a copy of instruction INDEX. If it stores, calls are around it. */
static void write_watched(struct watcher *w, struct buffer *out, uint32_t index, bool again) {
    struct planner *p = w->p;
    const struct graph_instruction *instruction = &w->instructions[index];
    const struct statement *s = statement_of(p, instruction);
    struct frame_row frame = frame_at(p, instruction);
    struct event_sums sums = sums_in_block(p, w->index, index, is_counted(w, index));
    struct access_address address;
    bool stores = is_checked(instruction) &&
                  address_of(p, &instruction->decoded->store, instruction->statement, &address);
    write_changes(p, out, again ? instruction - 1 : NULL, instruction);
    if (stores) {
        anchor_code(p, out, w->block->fragment, sums);
        write_store_begin(out, &address, instruction->decoded->size, &frame);
    }
    anchor_instructions(p, out, w->index, index, index + 1, is_counted(w, index));
    if (s->intel)
        buffer_text(out, ".intel_syntax noprefix; ");
    write_instruction(p, out, instruction);
    if (s->intel)
        buffer_text(out, ".att_syntax prefix; ");
    if (!stores)
        return;
    int pushed = instruction->decoded->store.pushes;
    anchor_code(p, out, w->block->fragment,
                sums_in_block(p, w->index, index + 1, is_counted(w, index)));
    if (pushed) { /* both calls of a pair need the same stack pointer */
        write_adjust(out, &frame, pushed);
        buffer_text(out, "; ");
        write_stack_move(out, &frame, pushed);
    }
    write_store_end(out, &instruction->decoded->store, &frame);
    if (pushed)
        write_stack_move(out, &frame, -pushed);
}

/* The code out of line now has the rules of INSTRUCTION. */
static void leave_frame(struct planner *p, const struct graph_instruction *instruction) {
    struct frame_row frame = frame_at(p, instruction);
    struct frame_row *before = &watched_function(p)->out_of_line;
    if (before->known && frame.known)
        *before = frame;
}

/* Writes the code out of line to which the check with LABEL jumps. WAY: how that check keeps what
 * it changes. */
static void write_range(struct watcher *w, const struct range *range, uint32_t label,
                        enum check_effect effect) {
    struct planner *p = w->p;
    struct buffer *out = &p->far_stubs;
    struct frame_row frame = frame_at(p, &w->instructions[range->first]);
    p->copied = true;
    buffer_text(out, "; ");
    write_counted_line(p, out, &w->instructions[range->first]);
    buffer_print(out, ".LQx%u: ", label);
    anchor_code(p, out, w->block->fragment,
                sums_in_block(p, w->index, range->first, is_counted(w, range->first)));
    enter_frame(p, &frame);
    write_check_end(out, effect, &frame);
    if (range->store.enters) { /* the store is made here, and again by `enter` */
        struct access_address address;
        address_of(p, &range->store, 0, &address);
        write_store_begin(out, &address, 0, &frame);
        write_frame_pointer(out, &frame);
        write_store_end(out, &range->store, &frame);
        buffer_print(out, "jmp .LQq%u", label);
    } else {
        for (uint32_t i = range->first; i <= range->last; i++)
            write_watched(w, out, i, i > range->first);
        buffer_print(out, "jmp .LQy%u", label);
    }
    leave_frame(p, &w->instructions[range->last]);
}

/* ---- checks that are left out ---- */

/* Whether the store's address is relative to the stack or frame pointer only. */
static bool is_on_stack(const struct planner *p, const struct access *store,
                        const struct graph_instruction *instruction) {
    struct frame_row frame = frame_at(p, instruction);
    if (store->kind == ACCESS_STACK)
        return true;
    if (store->kind != ACCESS_PLAIN || store->thread || store->segment ||
        store->index != NO_REGISTER)
        return false;
    return store->registers == REGISTER_RSP ||
           (store->registers == REGISTER_RBP && frame.known && frame.by_rbp);
}

/* Whether all stores of the range stay in the function's frame, below its return address. */
static bool stays_in_frame(const struct watcher *w, const struct range *range) {
    const struct planner *p = w->p;
    const struct access *store = &range->store;
    struct frame_row frame = frame_at(p, &w->instructions[range->first]);
    bool by_stack = store->registers == REGISTER_RSP;
    for (uint32_t i = range->first; i <= range->last; i++)
        if (statement_of(p, &w->instructions[i])->inline_asm)
            return false; /* its stack pointer may point anywhere */
    if (!p->graph->function->compiled || store->kind == ACCESS_STACK)
        return p->graph->function->compiled;
    return frame.known && (by_stack ? frame.by_rsp : frame.by_rbp) && !store->pops &&
           range->end <= frame.offset - RETURN_ADDRESS;
}

/* Returns the variable's part of "variable+8(%rip)". The length is 0 for other operands. */
static struct span variable_of(const struct access_address *address) {
    struct span operand = address->operand;
    if (address->access->kind != ACCESS_PLAIN || !address->access->relative || address->intel ||
        !operand.start)
        return (struct span){operand.start, 0};
    struct span displacement = displacement_of(operand);
    return displacement.length < operand.length ? displacement : (struct span){operand.start, 0};
}

bool needs_check(const struct planner *p, const struct graph_instruction *instruction) {
    const struct access *store = &instruction->decoded->store;
    struct access_address address;
    return is_checked(instruction) && address_of(p, store, instruction->statement, &address) &&
           !is_on_stack(p, store, instruction) && !variable_of(&address).length;
}

static struct buffer *rows_of(struct watcher *w) {
    return site_rows(w->p, w->block->fragment);
}

/* Inserts a no-operation in place of the check, and writes the check out of line. Returns false
 * without doing so if the check must always be armed. */
static bool leave_out(struct watcher *w, const struct range *range, uint32_t label,
                      const struct buffer *check, const struct access_address *address) {
    struct planner *p = w->p;
    struct span variable = variable_of(address);
    bool on_stack = is_on_stack(p, &range->store, &w->instructions[range->first]);
    bool wanted = p->state->options->eliminate || range->store.kind == ACCESS_STACK;
    if (!wanted || (!on_stack && !variable.length))
        return false;
    struct buffer *rows = rows_of(w), text = {0};
    anchor_code(p, &text, w->block->fragment,
                sums_in_block(p, w->index, range->first, is_counted(w, range->first)));
    write_site(&text, label);
    insert_at(p, &w->instructions[range->first], &text);
    struct frame_row frame = frame_at(p, &w->instructions[range->first]);
    buffer_text(&p->far_stubs, "; ");
    write_counted_line(p, &p->far_stubs, &w->instructions[range->first]);
    buffer_print(&p->far_stubs, ".LQz%u: ", label);
    enter_frame(p, &frame);
    if (range->store.kind == ACCESS_STACK && clobbers_in_block(w, range->first).flags_free)
        write_below_stack_pointer(&p->far_stubs, ".LQq", label);
    if (is_call(&w->instructions[range->first]))
        write_call_store(&p->far_stubs, label, &frame);
    else
        buffer_print(&p->far_stubs, "%s; ", check->data);
    buffer_print(&p->far_stubs, "jmp .LQq%u", label);
    if (on_stack && stays_in_frame(w, range))
        buffer_print(rows, "\t.long .LQa%u-., .LQz%u-., %s-., 0x%x\n", label, label,
                     function_label(p), QUIPU_SITE_FRAME);
    else if (on_stack)
        buffer_print(rows, "\t.long .LQa%u-., .LQz%u-., 0, 0\n", label, label);
    else
        buffer_print(rows, "\t.long .LQa%u-., .LQz%u-., %.*s-., %u\n", label, label,
                     (int)variable.length, variable.start, range->store.size);
    if (w->shares && range->first == p->blocks[w->index].top)
        write_shared_begin(p, label);
    return true;
}

/* ---- */

/* Whether the table of sites has a row for the armed check: in builds that also count. */
static bool has_row(const struct watcher *w, const struct range *range) {
    return counts_anything(w->p->state->options) && !is_call(&w->instructions[range->first]);
}

static void insert_check(struct watcher *w, const struct range *range) {
    struct planner *p = w->p;
    struct clobbers clobbers = clobbers_in_block(w, range->first);
    struct access_address address;
    struct buffer check = {0}, text = {0};
    if (!address_of(p, &range->store, range->statement, &address))
        return;
    if (range->end - range->begin > range->store.size)
        address.operand = joint_operand(w, range);
    uint32_t label = ++p->state->labels;
    enum check_effect effect = CHECK_CHANGES_NOTHING;
    if (!is_call(&w->instructions[range->first])) {
        anchor_code(p, &check, w->block->fragment,
                    sums_in_block(p, w->index, range->first, is_counted(w, range->first)));
        effect = write_store_check(&check, &address, &clobbers, label);
    }
    split_block(p, w->index, range->first);
    if (leave_out(w, range, label, &check, &address))
        buffer_release(&check);
    else {
        if (has_row(w, range))
            buffer_print(rows_of(w), "\t.long .LQp%u-., 0, %d, 0x%x\n", label,
                         (int)kind_of_check(p, w->index, &range->store), QUIPU_SITE_CHECK);
        insert_at(p, &w->instructions[range->first], &check);
    }
    buffer_print(&text, ".LQy%u:", label);
    insert_after(p, &w->instructions[range->last], &text);
    if (!is_call(&w->instructions[range->first]))
        write_range(w, range, label, effect);
}

/* If several begin at one instruction, the longest comes first: its copy skips the checks of the
 * others. */
static int compare_ranges(const void *left, const void *right) {
    const struct range *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->last > b->last ? -1 : a->last < b->last;
}

/* Whether control continues on another stack, which may be in any memory, even in a variable.
 * Functions that declare a stack, such as sigaltstack, are reported to the runtime
 * (format/watch_callees.h). */
static bool leaves_stack(const struct watcher *w, uint32_t index) {
    static const char *const names[] = {"makecontext", "setcontext", "swapcontext",
                                        "clone",       "sigstack",   "pthread_attr_setstackaddr"};
    const struct graph_instruction *instruction = &w->instructions[index];
    if (instruction->decoded->switches_stack)
        return true;
    if (!is_call(instruction))
        return false;
    struct span name = find_callee_name(w->p->graph->unit, statement_of(w->p, instruction));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (span_is(name, names[i]))
            return true;
    return false;
}

void insert_checks(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    struct watcher watcher = {.p = p,
                              .index = index,
                              .block = block,
                              .instructions = &graph->instructions.data[block->first],
                              .shares = shares_begin(p, index)};
    if (block->padding)
        return;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct graph_instruction *instruction = &watcher.instructions[i];
        if (leaves_stack(&watcher, i))
            buffer_text(rows_of(&watcher), "\t.long 0, 0, 0, 0\n");
        if (is_push(instruction) || is_call(instruction))
            add_pushes(&watcher, i);
        else if (is_checked(instruction) && !join_range(&watcher, i))
            add_range(&watcher, i);
    }
    watched_unit(p->state)->watched |= watcher.ranges.count > 0;
    if (watcher.ranges.count)
        qsort(watcher.ranges.data, watcher.ranges.count, sizeof *watcher.ranges.data,
              compare_ranges);
    for (size_t i = 0; i < watcher.ranges.count; i++)
        insert_check(&watcher, &watcher.ranges.data[i]);
}
