/* effect.c: the short form of what an instruction accesses and computes; see effect.h. */
#include "x86/effect.h"

static uint8_t value_of(uint8_t reg) {
    return reg == NO_REGISTER ? VALUE_ZERO : reg;
}

static uint16_t bit_of(uint8_t value) {
    return value < GENERAL_REGISTERS ? (uint16_t)(1u << value) : 0;
}

static uint8_t shift_of(uint8_t scale) {
    return scale ? (uint8_t)__builtin_ctz(scale) : 0;
}

/* Whether the access's address is a sum of two values and a number. */
static bool is_short(const struct access *access) {
    bool one_range = access->kind == ACCESS_PLAIN || access->kind == ACCESS_STACK;
    bool other_base = access->thread || access->relative;
    return one_range && !access->segment && !access->narrow &&
           !(access->thread && access->relative) && !(other_base && access->base != NO_REGISTER);
}

static struct effect_access short_access(const struct access *access, uint64_t next, bool writes) {
    struct effect_access found = {.displacement = access->displacement + access->pops,
                                  .base = value_of(access->base),
                                  .index = value_of(access->index),
                                  .shift = shift_of(access->scale),
                                  .writes = writes,
                                  .size = access->size,
                                  .needs = access->registers};
    if (access->kind == ACCESS_STACK) {
        found.index = VALUE_ZERO;
        found.displacement -= access->pushes;
    }
    if (access->thread)
        found.base = VALUE_THREAD;
    if (access->relative) {
        found.base = VALUE_BIAS;
        found.displacement += (int64_t)next;
    }
    return found;
}

/* Adds the accesses. Returns false if one has no short form, or there are too many. */
static bool add_accesses(struct effect *effect, const struct decoded *decoded, uint64_t next) {
    bool writes = writes_memory(decoded);
    if (decoded->load_count + writes > EFFECT_ACCESSES)
        return false;
    for (unsigned i = 0; i < decoded->load_count; i++) {
        if (!is_short(&decoded->loads[i]))
            return false;
        effect->accesses[effect->access_count++] = short_access(&decoded->loads[i], next, false);
    }
    if (writes && !is_short(&decoded->store))
        return false;
    if (writes)
        effect->accesses[effect->access_count++] = short_access(&decoded->store, next, true);
    return true;
}

static void add_sum(struct effect *effect, uint8_t reg, uint8_t a, int64_t constant) {
    effect->kind = EFFECT_SUM;
    effect->reg = reg;
    effect->a = a;
    effect->b = VALUE_ZERO;
    effect->constant = constant;
}

/* Adds what is computed, as follow_registers has it. */
static void add_computation(struct effect *effect, const struct decoded *decoded, uint64_t next) {
    const struct computation *computation = &decoded->computation;
    int bytes = 0;
    effect->kind = EFFECT_NONE;
    effect->kept = (uint16_t)~decoded->registers_written;
    if (leaves_frame(decoded)) {
        add_sum(effect, STACK_POINTER, FRAME_POINTER, LEAVE_POPS);
    } else if (moves_stack(decoded, &bytes)) {
        add_sum(effect, STACK_POINTER, STACK_POINTER, bytes);
    } else if (computation->kind == COMPUTES_DIFFERENCE && computation->b == NO_REGISTER) {
        add_sum(effect, computation->reg, value_of(computation->a), -computation->constant);
        effect->narrow = !computation->wide;
    } else if (computation->kind == COMPUTES_SUM) {
        add_sum(effect, computation->reg, value_of(computation->a), computation->constant);
        effect->b = value_of(computation->b);
        effect->shift = shift_of(computation->scale);
        effect->narrow = !computation->wide;
        if (computation->relative) {
            effect->a = VALUE_BIAS;
            effect->constant += (int64_t)next;
        }
    } else if (computation->kind != COMPUTES_NOTHING) {
        effect->kind = EFFECT_OTHER;
        return;
    }
    if (effect->kind == EFFECT_SUM) {
        effect->needs = bit_of(effect->a) | bit_of(effect->b);
        effect->results = bit_of(effect->reg);
    }
}

struct effect find_effect(const struct decoded *decoded, uint64_t next) {
    struct effect effect = {.kind = EFFECT_LONG};
    if (is_call_class(decoded->class) || decoded->class == CLASS_SYSTEM ||
        decoded->turns != TURNS_ONE || !add_accesses(&effect, decoded, next))
        return (struct effect){.kind = EFFECT_LONG};
    add_computation(&effect, decoded, next);
    return effect;
}
