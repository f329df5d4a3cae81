/* origins.c: the initial values of a loop's registers; see origins.h.
 *
 * The analysis ignores control flow: all instructions of the loop that write a register count, in
 * any order. So the result also holds for nested loops.
 *
 * Invariant: registers with the same representative are copied to each other. Its facts are those
 * of all of them.
 *
 * requires: find_liveness
 * Not perfect: 64-bit values from memory, and values that are computed by other instructions than
 * additions, are unknown. */
#include "flow/origins.h"

#include "flow/induction.h"

struct tracer {
    const struct graph *graph;
    uint16_t written; /* in the loop */
    uint8_t representative[GENERAL_REGISTERS];
    struct origin facts[GENERAL_REGISTERS]; /* of the instructions that write each register */
};

static uint8_t representative_of(const struct tracer *t, uint8_t reg) {
    while (t->representative[reg] != reg)
        reg = t->representative[reg];
    return reg;
}

static bool is_written(const struct tracer *t, uint8_t reg) {
    return t->written >> reg & 1;
}

static void note_addition(struct tracer *t, const struct graph_instruction *instruction) {
    const struct linear *linear = &instruction->decoded->linear;
    struct origin *facts = &t->facts[linear->reg];
    if (linear->other != NO_REGISTER) {
        facts->known &= !is_written(t, linear->other);
        facts->steps |= (uint16_t)(1u << linear->other);
        facts->up = true;
        return;
    }
    uint64_t length = (uint64_t)(linear->constant < 0 ? -linear->constant : linear->constant);
    facts->known &= adds_number(t->graph, instruction);
    facts->up |= linear->constant > 0;
    facts->down |= linear->constant < 0;
    facts->longest = length > facts->longest ? length : facts->longest;
}

static void note_copy(struct tracer *t, uint8_t to, uint8_t from) {
    if (is_written(t, from))
        t->representative[representative_of(t, to)] = representative_of(t, from);
    else
        t->facts[to].entries |= (uint16_t)(1u << from);
}

/* Records the facts of an instruction that writes REG. */
static void note_write(struct tracer *t, const struct graph_instruction *instruction, uint8_t reg) {
    const struct decoded *decoded = instruction->decoded;
    const struct linear *linear = &decoded->linear;
    struct origin *facts = &t->facts[reg];
    if (decoded->zero_extended >> reg & 1)
        facts->is_zero = true;
    else if (decoded->sign_extended >> reg & 1)
        facts->is_signed = true;
    else if (linear->kind == LINEAR_ADD && linear->reg == reg && linear->wide)
        note_addition(t, instruction);
    else if (linear->kind == LINEAR_COPY && linear->reg == reg && linear->wide)
        note_copy(t, reg, linear->other);
    else
        facts->known = false;
}

static void note_block(struct tracer *t, const struct basic_block *block) {
    for (uint32_t i = 0; i < block->count; i++) {
        const struct graph_instruction *instruction =
            &t->graph->instructions.data[block->first + i];
        for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
            if (instruction->decoded->registers_written >> reg & 1)
                note_write(t, instruction, (uint8_t)reg);
    }
}

static void add_facts(struct origin *to, const struct origin *from) {
    to->known &= from->known;
    to->entries |= from->entries;
    to->is_zero |= from->is_zero;
    to->is_signed |= from->is_signed;
    to->up |= from->up;
    to->down |= from->down;
    to->steps |= from->steps;
    to->longest = from->longest > to->longest ? from->longest : to->longest;
}

static uint16_t registers_written(const struct graph *graph, const index_list *blocks) {
    uint16_t written = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        const struct basic_block *block = &graph->blocks.data[blocks->data[i]];
        for (uint32_t n = 0; n < block->count; n++)
            written |= graph->instructions.data[block->first + n].decoded->registers_written;
    }
    return written;
}

void find_origins(const struct graph *graph, uint32_t head, const index_list *blocks,
                  struct origin origins[GENERAL_REGISTERS]) {
    struct tracer tracer = {.graph = graph, .written = registers_written(graph, blocks)};
    uint32_t live = graph->blocks.data[head].live_in;
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++) {
        tracer.representative[reg] = (uint8_t)reg;
        tracer.facts[reg] = (struct origin){.known = true};
        origins[reg] = (struct origin){.known = true};
        if (!is_written(&tracer, (uint8_t)reg) || (live >> reg & 1))
            tracer.facts[reg].entries = (uint16_t)(1u << reg);
    }
    for (size_t i = 0; i < blocks->count; i++)
        note_block(&tracer, &graph->blocks.data[blocks->data[i]]);
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        add_facts(&origins[representative_of(&tracer, (uint8_t)reg)], &tracer.facts[reg]);
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        origins[reg] = origins[representative_of(&tracer, (uint8_t)reg)];
}
