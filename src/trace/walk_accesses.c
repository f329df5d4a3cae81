/* walk_accesses.c: what an instruction accesses; see walk.h.
 *
 * Addresses are computed from the registers of the frame. A repeated string instruction accesses as
 * many elements as %rcx has decreased by, which the next record tells where the instruction may end
 * early. The vectors of gathers, scatters and masks are in the record in front of it. */
#include "trace/walk.h"

#include "x86/computation.h"

#include <string.h>

struct taking {
    struct trace_walk *walk;
    bool writes, sure;
    bool joins;        /* parts that are neighbours are one reference */
    size_t first;      /* number of references before */
    uint64_t distance; /* of a string: of this turn */
};

static void take_reference(void *context, uint64_t address, uint64_t size) {
    struct taking *taking = context;
    struct reference reference = {address + taking->distance, size, taking->writes, taking->sure};
    size_t count = taking->walk->step.references.count;
    if (taking->joins && count > taking->first) {
        struct reference *last = vector_at(&taking->walk->step.references, count - 1);
        if (last->address + last->size == address) {
            last->size += size;
            return;
        }
    }
    vector_push(&taking->walk->arena, &taking->walk->step.references, reference);
}

/* Returns the value of %rcx behind the instruction, which the next record has. */
static bool count_behind(struct trace_walk *walk, const struct frame *frame, uint64_t *count) {
    const struct item *item = peek(walk);
    if (item->kind != QUIPU_TRACE_FIRST || item->id >= frame->function->id_count)
        return false;
    uint32_t record = frame->function->record_of_id[item->id];
    if (!record || !(frame->function->records[record - 1].registers & REGISTER_RCX))
        return false;
    const struct record_note *note = &frame->function->records[record - 1];
    *count = value_in(item, note, 1 /* %rcx */);
    return true;
}

enum {
    TURNS_MOST = 1 << 26 /* all references of an instruction are in memory at a time */
};

/* Returns how often the instruction runs. */
static uint64_t count_turns(struct trace_walk *walk, const struct frame *frame,
                            const struct decoded *decoded) {
    uint64_t before = frame->values[1], behind = 0;
    if (decoded->turns == TURNS_ONE)
        return 1;
    if (decoded->turns == TURNS_SOME && !count_behind(walk, frame, &behind))
        return 0;
    if (before - behind > TURNS_MOST) {
        walk_fail(walk, "an instruction repeats more often than can be followed");
        return 0;
    }
    return before - behind;
}

/* Gives accessed_parts the vectors of ACCESS, in the order of vectors_of_access. */
static void put_vectors(struct trace_walk *walk, const struct frame *frame,
                        const struct access *access) {
    unsigned mask = access->kind == ACCESS_SCATTERED;
    if (mask)
        memcpy(walk->values.indices, frame->vectors[0], VECTOR_BYTES);
    memcpy(walk->values.signs, frame->vectors[mask], VECTOR_BYTES);
    walk->values.bits = number_at(frame->vectors[mask], 8);
}

static void take_access(struct trace_walk *walk, const struct frame *frame,
                        const struct access *access, uint64_t next, uint64_t turn, bool writes) {
    struct taking taking = {.walk = walk, .writes = writes, .distance = turn << access->element};
    bool has_vectors = access->kind == ACCESS_MASKED || access->kind == ACCESS_SCATTERED;
    taking.joins = access->kind == ACCESS_MASKED;
    taking.first = walk->step.references.count;
    taking.sure = !(access->registers & ~frame->known) && access->kind != ACCESS_STATE &&
                  (frame->has_vectors || !has_vectors);
    if (access->kind != ACCESS_STRING)
        taking.distance = 0;
    if (access->kind == ACCESS_SCATTERED && !frame->has_vectors)
        return;
    struct access whole = *access;
    if (has_vectors && frame->has_vectors)
        put_vectors(walk, frame, access);
    else if (access->kind == ACCESS_MASKED)
        whole.kind = ACCESS_PLAIN;
    accessed_parts(&whole, &walk->values, next, take_reference, &taking);
}

void take_accesses(struct trace_walk *walk, const struct frame *frame,
                   const struct decoded *decoded, uint64_t next) {
    uint64_t turns = count_turns(walk, frame, decoded);
    if (!decoded->load_count && !writes_memory(decoded))
        return;
    put_general_registers(&walk->values.general, frame->values);
    for (uint64_t turn = 0; turn < turns; turn++) {
        for (unsigned i = 0; i < decoded->load_count; i++)
            take_access(walk, frame, &decoded->loads[i], next, turn, false);
        if (writes_memory(decoded))
            take_access(walk, frame, &decoded->store, next, turn, true);
    }
}
