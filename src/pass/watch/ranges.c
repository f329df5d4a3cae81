/* ranges.c: what a loop will write, found before the loop (Wahbe, Lucco and Graham 1993, section 4:
 * invariant and monotonic addresses).
 *
 * An address is known if its registers do not change in the loop, or change by constant steps; or
 * if its only changing register is the loop's counter, whatever its step is. Stores by the same
 * registers form one range.
 *
 * requires: find_loops, find_liveness    makes: ranges of loops
 * Not perfect: four ranges at most. Addresses that are computed anew in each iteration are not
 * known, except copies of the counter. */
#include "asm/operand.h"
#include "flow/induction.h"
#include "format/watch.h"
#include "pass/watch/loops.h"

#include <string.h>

enum {
    EXTRA_MAX = 4096, /* bytes between stores of one range */
};

/* The search for ranges. */
struct finder {
    const struct planner *p;
    struct loop_copy *loop;
    struct induction induction;
    const struct access *stores[RANGES_MAX];
    bool joins[RANGES_MAX]; /* the operand has only a number and registers */
    int64_t lowest[RANGES_MAX];
    uint32_t registers; /* of all addresses */
};

/* ---- distances ---- */

/* Sets the loop's distance. If the loop's end is not known there is none, and no address may
 * change. */
static void find_distance(struct finder *f) {
    const struct loop_end *end = &f->induction.end;
    const struct register_step *step = &f->induction.steps[end->counter];
    const struct unit *unit = f->p->graph->unit;
    struct loop_distance *distance = &f->loop->distance;
    *distance = (struct loop_distance){.counter = end->counter,
                                       .limit = end->limit,
                                       .wide = end->wide,
                                       .exact = end->exact,
                                       .is_signed = end->is_signed,
                                       .step = step->constant,
                                       .step_register = step->by,
                                       .one_way_out = f->induction.one_way_out};
    if (end->known && end->limit == NO_REGISTER && end->statement != NONE &&
        !find_immediate_operand(unit, &unit->statements.data[end->statement], &distance->number))
        f->induction.end.known = false;
}

/* Sets the range's register REG, which is a copy of the counter, or its extended lower 32 bits.
 * Returns false if the range has such a register already. */
static bool set_narrow(const struct finder *f, uint8_t reg, struct loop_range *range) {
    const struct register_step *step = &f->induction.steps[reg];
    if (range->is_narrow || range->copy.length)
        return false;
    range->is_narrow = !step->wide;
    range->is_signed = step->copied && step->is_signed;
    range->narrow = reg;
    if (step->copied) {
        const struct unit *unit = f->p->graph->unit;
        const struct statement *s = &unit->statements.data[step->statement];
        range->copy = (struct span){unit->text + s->start, s->end - s->start};
    }
    return true;
}

/* Adds, to the range's stride, FACTOR times the step of REG, a register of the address. Returns
 * false if the step is not known. */
static bool add_stride(const struct finder *f, uint8_t reg, uint8_t factor,
                       struct loop_range *range) {
    if (reg == NO_REGISTER || !(f->induction.written >> reg & 1))
        return true;
    uint8_t original = original_register(f->p->graph, f->loop->head, &f->induction, reg);
    const struct register_step *step = &f->induction.steps[original];
    bool is_counter = f->induction.end.known && original == f->induction.end.counter;
    if (!f->induction.end.known || !step->known || step->constant > INT32_MAX ||
        step->constant < INT32_MIN ||
        ((original != reg || !step->wide) && (!is_counter || !set_narrow(f, reg, range))))
        return false;
    if (f->loop->distance.step_register != NO_REGISTER) {
        range->stride += factor;
        return is_counter;
    }
    range->stride += step->constant * factor;
    return step->by == NO_REGISTER;
}

static bool find_stride(const struct finder *f, const struct access *store,
                        struct loop_range *range) {
    return add_stride(f, store->base, 1, range) &&
           add_stride(f, store->index, store->scale, range) &&
           (range->stride == 0 || is_known_distance(&f->loop->distance, range->stride));
}

/* ---- ranges ---- */

static bool is_plain_store(const struct access *store) {
    return store->kind == ACCESS_PLAIN && !store->thread && !store->segment && !store->absolute &&
           !store->implicit && !store->pops && store->size <= QUIPU_WATCH_SPAN;
}

static bool has_narrow_register(struct span operand) {
    return memmem(operand.start, operand.length, "%e", 2) != NULL;
}

bool is_movable_store(const struct planner *p, const struct graph_instruction *instruction,
                      struct span *operand) {
    return is_plain_store(&instruction->decoded->store) &&
           find_memory_operand(p->graph->unit, statement_of(p, instruction), operand) &&
           !has_narrow_register(*operand);
}

/* Adds the store to an existing range, if possible. */
static bool join(struct finder *f, const struct access *store, struct span operand) {
    struct loop_copy *loop = f->loop;
    for (uint32_t i = 0; i < loop->range_count; i++) {
        struct loop_range *range = &loop->ranges[i];
        if (range->operand.length == operand.length &&
            memcmp(range->operand.start, operand.start, operand.length) == 0)
            return true;
        if (!f->joins[i] || !is_number_operand(operand) || !is_same_base(f->stores[i], store))
            continue;
        int64_t low = store->displacement < f->lowest[i] ? store->displacement : f->lowest[i];
        int64_t high = f->lowest[i] + range->extra;
        high = store->displacement > high ? store->displacement : high;
        if (high - low > EXTRA_MAX)
            continue;
        if (low < f->lowest[i])
            range->operand = operand;
        f->lowest[i] = low;
        range->extra = high - low;
        return true;
    }
    return false;
}

static bool add_store(struct finder *f, const struct graph_instruction *instruction) {
    const struct access *store = &instruction->decoded->store;
    struct loop_copy *loop = f->loop;
    struct loop_range found = {.by_stack = store->registers & REGISTER_RSP};
    struct span operand;
    if (!is_movable_store(f->p, instruction, &operand) || !find_stride(f, store, &found))
        return false;
    f->registers |= store->registers;
    if (join(f, store, operand))
        return true;
    if (loop->range_count == RANGES_MAX)
        return false;
    f->stores[loop->range_count] = store;
    f->joins[loop->range_count] = is_number_operand(operand);
    f->lowest[loop->range_count] = store->displacement;
    found.operand = operand;
    loop->ranges[loop->range_count++] = found;
    return true;
}

static bool add_stores(struct finder *f) {
    const struct graph *graph = f->p->graph;
    for (size_t i = 0; i < f->loop->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[f->loop->blocks.data[i]];
        for (uint32_t n = 0; n < block->count; n++) {
            const struct graph_instruction *instruction =
                &graph->instructions.data[block->first + n];
            if (instruction->decoded->store.kind != ACCESS_NONE && !add_store(f, instruction))
                return false;
        }
    }
    return true;
}

/* Chooses two registers that are not used in addresses and distance. Prefers those that are dead at
 * the head, then caller-saved ones. Sets `has_ranges` if there are two. */
static void choose_scratch(const struct finder *f) {
    static const uint8_t order[] = {0, 1, 2, 6, 7, 8, 9, 10, 3, 12, 13, 14, 15, 5};
    const struct graph *graph = f->p->graph;
    const struct loop_distance *distance = &f->loop->distance;
    uint32_t live = graph->blocks.data[f->loop->head].live_in;
    uint32_t used = REGISTER_R11 | REGISTER_RSP | f->registers;
    const uint8_t others[] = {distance->counter, distance->limit, distance->step_register};
    for (size_t i = 0; i < sizeof others; i++)
        used |= others[i] == NO_REGISTER ? 0 : 1u << others[i];
    used |= live & REGISTER_RBP; /* frames may be found by it */
    int found = 0;
    for (uint32_t kept = 0; kept < 2; kept++)
        for (size_t i = 0; i < sizeof order && found < 2; i++)
            if (!(used >> order[i] & 1) && (live >> order[i] & 1) == kept) {
                f->loop->scratch.of[found] = order[i];
                f->loop->scratch.kept[found++] = kept;
            }
    f->loop->has_ranges = found == 2;
}

void find_ranges(const struct planner *p, const struct loops *loops, struct loop_copy *loop) {
    struct finder finder = {.p = p, .loop = loop};
    if (!find_induction(p->graph, loops, loop->head, &loop->blocks, &finder.induction))
        return;
    loop->written = finder.induction.written;
    find_distance(&finder);
    if (add_stores(&finder))
        choose_scratch(&finder);
}

/* Writes the test of short ranges, which takes few instructions. If it fails, continues behind
 * it. */
static void write_quick_ranges(struct planner *p, const struct loop_copy *loop) {
    const char *thorough = arena_print(&p->state->unit->arena, ".LQlg%u", loop->text.label);
    const struct frame_row *frame = &loop->text.frame;
    struct scratch_registers scratch;
    struct range_checks checks = {.out = &p->far_stubs,
                                  .distance = &loop->distance,
                                  .scratch = &loop->scratch,
                                  .dirty = thorough};
    if (!find_quick_scratch(&checks, loop->ranges, loop->range_count, &scratch))
        return;
    checks.scratch = &scratch;
    write_scratch_begin(&p->far_stubs, &scratch, frame);
    write_quick_checks(&checks, loop->ranges, loop->range_count);
    write_scratch_end(&p->far_stubs, &scratch, frame);
    buffer_print(&p->far_stubs, "jmp .LQlu%u; %s: ", loop->text.label, thorough);
    write_scratch_frame(&p->far_stubs, &scratch, frame);
    write_scratch_end(&p->far_stubs, &scratch, frame);
}

/* Writes the tests of all ranges: the quick one, then the exact one. If a range may be watched,
 * control continues behind them, at DIRTY. If there is no shadow, it jumps to AWAY. */
static void write_all_ranges(struct planner *p, const struct loop_copy *loop, const char *dirty,
                             const char *away) {
    struct buffer apart = {0};
    struct range_checks checks = {.out = &p->far_stubs,
                                  .apart = &apart,
                                  .distance = &loop->distance,
                                  .scratch = &loop->scratch,
                                  .dirty = dirty};
    write_shadow_check(&p->far_stubs, away);
    write_quick_ranges(p, loop);
    write_scratch_begin(&p->far_stubs, &loop->scratch, &loop->text.frame);
    for (uint32_t i = 0; i < loop->range_count; i++)
        write_range_check(&checks, &loop->ranges[i], ++p->state->labels);
    write_scratch_end(&p->far_stubs, &loop->scratch, &loop->text.frame);
    buffer_print(&p->far_stubs, "jmp .LQlu%u; ", loop->text.label);
    write_scratch_frame(&p->far_stubs, &loop->scratch, &loop->text.frame);
    buffer_add(&p->far_stubs, apart.data, apart.count);
    buffer_release(&apart);
    buffer_print(&p->far_stubs, "%s: ", dirty);
    write_scratch_end(&p->far_stubs, &loop->scratch, &loop->text.frame);
}

void write_ranges(struct planner *p, const struct loop_copy *loop) {
    struct arena *arena = &p->state->unit->arena;
    const char *dirty = arena_print(arena, ".LQld%u", loop->text.label);
    const char *away = arena_print(arena, ".LQlv%u", loop->text.label);
    buffer_print(&p->far_stubs, ".LQla%u: ", loop->text.label);
    if (loop->has_far_checks)
        write_far(p, loop);
    if (loop->has_ranges)
        write_all_ranges(p, loop, dirty, away);
    buffer_print(&p->far_stubs, "%s: ", away);
    write_loop_release(&p->far_stubs, loop->text.shared);
    buffer_print(&p->far_stubs, "; jmp .LQlc%u_%u; ", loop->text.label, loop->head);
}
