/* far.c: loops that stay far away from all regions, recognized before the loop by their first
 * addresses (Wahbe, Lucco and Graham 1993, section 4, with less knowledge of the loop).
 *
 * The number of iterations is unknown, and does not matter: an address that only increases and
 * starts behind the last region reaches none, nor does one that starts tens of terabytes below the
 * first region (format/watch.h, section 2). So steps may be conditional, indices may be any 32
 * bits, and the loop may contain other loops.
 *
 * requires: find_liveness    makes: `far` of loops
 * Not perfect: six addresses at most. 64-bit values read from memory are unknown. A loop that
 * crosses 32 TiB of addresses, and stores only at both ends, could reach regions at the other end
 * unnoticed. */
#include "pass/watch/loops.h"

#include "asm/operand.h"
#include "flow/origins.h"
#include "format/watch.h"

#include <string.h>

struct far_finder {
    const struct planner *p;
    struct loop_copy *loop;
    struct origin origins[GENERAL_REGISTERS];
};

/* The possible first values of an address's register: registers, or NO_REGISTER for numbers. */
struct beginnings {
    uint32_t count;
    uint8_t of[GENERAL_REGISTERS + 1];
};

static struct origin origin_of(const struct far_finder *f, uint8_t reg) {
    return reg == NO_REGISTER ? (struct origin){.known = true, .is_zero = true} : f->origins[reg];
}

static struct beginnings beginnings_of(const struct origin *origin) {
    struct beginnings beginnings = {0};
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (origin->entries >> reg & 1)
            beginnings.of[beginnings.count++] = (uint8_t)reg;
    if (origin->is_zero || origin->is_signed)
        beginnings.of[beginnings.count++] = NO_REGISTER;
    return beginnings;
}

/* Sets *WAY to the direction in which the sum of both moves. Returns false if it has none, or if
 * that is not known. */
static bool find_direction(const struct access *store, const struct origin *base,
                           const struct origin *index, enum far_direction *direction) {
    bool up = base->up || index->up, down = base->down || index->down;
    bool is_signed = base->is_signed || index->is_signed;
    bool is_number = (store->base != NO_REGISTER && base->is_zero) ||
                     (store->index != NO_REGISTER && index->is_zero);
    *direction = down ? FAR_DOWN : is_signed ? FAR_EITHER : FAR_UP;
    return base->known && index->known && base->longest <= FAR_STEP_MAX &&
           index->longest * store->scale <= FAR_STEP_MAX &&
           !(down && (up || is_signed || is_number));
}

/* Adds CHECK to the loop's addresses, or merges it with one of them. Returns false if there is no
 * room. */
static bool add_check(struct loop_copy *loop, const struct far_check *check) {
    for (uint32_t i = 0; i < loop->far_count; i++) {
        struct far_check *other = &loop->far[i];
        if (other->direction != check->direction || other->base != check->base ||
            other->index != check->index || other->scale != check->scale ||
            other->symbol.length != check->symbol.length ||
            memcmp(other->symbol.start, check->symbol.start, check->symbol.length) != 0)
            continue;
        bool further = check->direction == FAR_DOWN ? check->displacement > other->displacement
                                                    : check->displacement < other->displacement;
        if (further)
            other->displacement = check->displacement;
        return true;
    }
    if (loop->far_count == FAR_MAX)
        return false;
    loop->far[loop->far_count++] = *check;
    return true;
}

/* Returns the text before the operand's registers if it is not a number. */
static struct span symbol_of(const struct access *store, struct span operand) {
    if (store->relative)
        return operand;
    if (is_number_operand(operand))
        return (struct span){operand.start, 0};
    return displacement_of(operand);
}

static bool add_far_store(struct far_finder *f, const struct graph_instruction *instruction) {
    const struct access *store = &instruction->decoded->store;
    struct span operand;
    struct origin base = origin_of(f, store->base), index = origin_of(f, store->index);
    struct beginnings bases = beginnings_of(&base), indices = beginnings_of(&index);
    struct far_check check = {.displacement = store->displacement};
    if (!is_movable_store(f->p, instruction, &operand) ||
        !find_direction(store, &base, &index, &check.direction))
        return false;
    check.symbol = symbol_of(store, operand);
    f->loop->far_steps |= base.steps | index.steps;
    for (uint32_t b = 0; b < bases.count; b++)
        for (uint32_t i = 0; i < indices.count; i++) {
            check.base = bases.of[b];
            check.index = indices.of[i];
            check.scale = check.index == NO_REGISTER ? 1 : store->scale;
            if (!add_check(f->loop, &check))
                return false;
        }
    return true;
}

void find_far(const struct planner *p, struct loop_copy *loop) {
    const struct graph *graph = p->graph;
    struct far_finder finder = {.p = p, .loop = loop};
    find_origins(graph, loop->head, &loop->blocks, finder.origins);
    for (size_t i = 0; i < loop->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[loop->blocks.data[i]];
        for (uint32_t n = 0; n < block->count; n++) {
            const struct graph_instruction *instruction =
                &graph->instructions.data[block->first + n];
            if (instruction->decoded->store.kind != ACCESS_NONE &&
                !add_far_store(&finder, instruction))
                return;
        }
    }
    loop->has_far_checks = true;
}

void write_far(struct planner *p, const struct loop_copy *loop) {
    const char *near = arena_print(&p->state->unit->arena, ".LQlh%u", loop->text.label);
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (loop->far_steps >> reg & 1)
            write_far_step(&p->far_stubs, (uint8_t)reg, near);
    for (uint32_t i = 0; i < loop->far_count; i++)
        write_far_check(&p->far_stubs, &loop->far[i], near);
    buffer_print(&p->far_stubs, "jmp .LQlu%u; %s: ", loop->text.label, near);
}
