/* induction.c: induction variables of a loop; see induction.h.
 *
 * A block runs once in each iteration if it dominates the block that jumps back, and if every cycle
 * in the loop contains the head. The edges within an iteration lead forward in reverse postorder.
 *
 * requires: find_loops, find_liveness
 * Not perfect: limits in memory, and registers that are computed anew from others, are unknown. */
#include "flow/induction.h"

#include "asm/operand.h"
#include "format/notes.h"

#include <string.h>

struct search {
    const struct graph *graph;
    const struct loops *loops;
    const index_list *blocks;
    uint32_t head, latch; /* nodes */
    struct induction *found;
};

static const struct basic_block *block_of(const struct search *s, uint32_t node) {
    return &s->graph->blocks.data[node - 1];
}

static bool is_inside(const struct search *s, uint32_t node) {
    for (size_t i = 0; i < s->blocks->count; i++)
        if (s->blocks->data[i] + 1 == node)
            return true;
    return false;
}

static bool is_in_each_turn(const struct search *s, uint32_t node) {
    return dominates(s->loops, node, s->latch);
}

/* Finds the only block that jumps back, and counts the exits. Returns false if there is none or
 * more than one, or if the loop contains another cycle. */
static bool find_latch(struct search *s) {
    uint32_t ways_out = 0;
    for (size_t i = 0; i < s->blocks->count; i++) {
        uint32_t node = s->blocks->data[i] + 1;
        const struct basic_block *block = block_of(s, node);
        for (size_t e = 0; e < block->out.count; e++) {
            uint32_t target = s->graph->edges.data[block->out.data[e]].target;
            if (target == s->head) {
                if (s->latch && s->latch != node)
                    return false;
                s->latch = node;
            } else if (!is_inside(s, target)) {
                ways_out++;
            } else if (s->loops->rank[target] <= s->loops->rank[node]) {
                return false;
            }
        }
    }
    s->found->one_way_out = ways_out == 1;
    return s->latch != 0;
}

bool adds_number(const struct graph *graph, const struct graph_instruction *instruction) {
    const struct unit *unit = graph->unit;
    const struct statement *statement = &unit->statements.data[instruction->statement];
    struct span text;
    if (!instruction->decoded->linear.written)
        return true;
    if (!find_immediate_operand(unit, statement, &text) &&
        !find_memory_operand(unit, statement, &text))
        return false;
    bool number = text.length && strchr("0123456789-", text.start[0]);
    for (size_t i = 1; number && i < text.length && text.start[i] != '('; i++)
        number = strchr("0123456789abcdefABCDEFx", text.start[i]);
    return number;
}

static void note_step(struct search *s, uint32_t node, const struct graph_instruction *instruction,
                      uint16_t *seen) {
    const struct decoded *decoded = instruction->decoded;
    const struct linear *linear = &decoded->linear;
    for (int r = 0; r < GENERAL_REGISTERS; r++)
        if (decoded->registers_written >> r & 1) {
            bool again = *seen >> r & 1;
            s->found->steps[r] = (struct register_step){
                .known = !again && linear->kind == LINEAR_ADD && linear->reg == r &&
                         is_in_each_turn(s, node) && adds_number(s->graph, instruction),
                .copied = !again && linear->kind == LINEAR_COPY && linear->reg == r,
                .is_signed = linear->is_signed,
                .statement = instruction->statement,
                .wide = linear->wide,
                .by = linear->other,
                .constant = linear->constant};
        }
    *seen |= decoded->registers_written;
}

static void find_steps(struct search *s) {
    for (size_t i = 0; i < s->blocks->count; i++) {
        const struct basic_block *block = &s->graph->blocks.data[s->blocks->data[i]];
        for (uint32_t n = 0; n < block->count; n++)
            note_step(s, s->blocks->data[i] + 1, &s->graph->instructions.data[block->first + n],
                      &s->found->written);
    }
    for (int r = 0; r < GENERAL_REGISTERS; r++) {
        struct register_step *step = &s->found->steps[r];
        if (step->known &&
            (step->by == NO_REGISTER ? step->constant == 0 : s->found->written >> step->by & 1))
            step->known = false;
    }
}

/* ---- the end ---- */

/* Returns the instruction that writes the flags for the jump at the block's end, or NULL. */
static const struct graph_instruction *comparison_of(const struct search *s,
                                                     const struct basic_block *block) {
    for (uint32_t i = block->count - 1; i-- > 0;) {
        const struct graph_instruction *instruction =
            &s->graph->instructions.data[block->first + i];
        if (instruction->decoded->flags_written)
            return instruction;
    }
    return NULL;
}

/* Whether a loop that continues under CONDITION ends when the counter passes the limit, in
 * direction UP or down. */
static bool ends_by(uint8_t condition, bool up) {
    switch (condition) {
    case CONDITION_NOT_EQUAL:
        return true;
    case CONDITION_BELOW:
    case CONDITION_NOT_ABOVE:
    case CONDITION_LESS:
    case CONDITION_NOT_GREATER:
        return up;
    case CONDITION_BELOW ^ 1:
    case CONDITION_NOT_ABOVE ^ 1:
    case CONDITION_LESS ^ 1:
    case CONDITION_NOT_GREATER ^ 1:
        return !up;
    default:
        return false;
    }
}

uint8_t original_register(const struct graph *graph, uint32_t head,
                          const struct induction *induction, uint8_t reg) {
    const struct register_step *step = &induction->steps[reg];
    return step->copied && !(graph->blocks.data[head].live_in >> reg & 1) ? step->by : reg;
}

/* The loop continues while CONDITION holds for COUNTER, as compared, and LIMIT. Sets the loop's end
 * if both are of the right form. */
static void try_end(struct search *s, const struct graph_instruction *comparison, uint8_t counter,
                    uint8_t limit, uint8_t condition) {
    const struct linear *linear = &comparison->decoded->linear;
    uint8_t original = original_register(s->graph, s->head - 1, s->found, counter);
    if (!linear->wide || s->found->steps[counter].wide)
        counter = original;
    const struct register_step *step = &s->found->steps[counter];
    bool is_limit = limit == NO_REGISTER || !(s->found->written >> limit & 1);
    bool up = step->by != NO_REGISTER || step->constant > 0;
    if (!step->known || !is_limit || (linear->wide && !step->wide) || !ends_by(condition, up) ||
        (condition == CONDITION_NOT_EQUAL && step->by != NO_REGISTER))
        return;
    s->found->end = (struct loop_end){.known = true,
                                      .counter = counter,
                                      .wide = linear->wide,
                                      .exact = condition == CONDITION_NOT_EQUAL,
                                      .is_signed = condition >= CONDITION_LESS,
                                      .limit = limit,
                                      .statement = linear->kind == LINEAR_COMPARE && linear->written
                                                       ? comparison->statement
                                                       : NONE};
}

/* Sets the loop's end if the block's jump ends the loop. */
static void find_end_at(struct search *s, uint32_t node) {
    const struct basic_block *block = block_of(s, node);
    const struct graph_instruction *jump = last_instruction(s->graph, block);
    if (!jump || jump->decoded->class != CLASS_CONDITIONAL || block->out.count != 2 ||
        !is_in_each_turn(s, node))
        return;
    const struct edge *taken = &s->graph->edges.data[block->out.data[0]];
    const struct edge *other = &s->graph->edges.data[block->out.data[1]];
    if (taken->kind != QUIPU_EDGE_TAKEN) {
        const struct edge *swap = taken;
        taken = other;
        other = swap;
    }
    bool stays = is_inside(s, taken->target);
    const struct graph_instruction *comparison = comparison_of(s, block);
    if (stays == is_inside(s, other->target) || !comparison)
        return;
    const struct linear *linear = &comparison->decoded->linear;
    uint8_t condition = stays ? jump->decoded->condition : jump->decoded->condition ^ 1;
    if (linear->kind == LINEAR_ADD && linear->flags && condition == CONDITION_NOT_EQUAL) {
        try_end(s, comparison, linear->reg, NO_REGISTER, condition);
    } else if (linear->kind == LINEAR_COMPARE) {
        try_end(s, comparison, linear->reg, linear->other, condition);
        if (!s->found->end.known && linear->other != NO_REGISTER)
            try_end(s, comparison, linear->other, linear->reg, mirrored_condition(condition));
    }
}

bool find_induction(const struct graph *graph, const struct loops *loops, uint32_t head,
                    const index_list *blocks, struct induction *induction) {
    struct search search = {
        .graph = graph, .loops = loops, .blocks = blocks, .head = head + 1, .found = induction};
    *induction = (struct induction){0};
    if (!find_latch(&search))
        return false;
    find_steps(&search);
    for (size_t i = 0; i < blocks->count && !induction->end.known; i++)
        find_end_at(&search, blocks->data[i] + 1);
    return true;
}
