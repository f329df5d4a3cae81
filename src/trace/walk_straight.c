/* walk_straight.c: a piece's instructions behind its first one; see walk.h.
 *
 * Within a piece there are no records, so all that the walk has to find out between two
 * instructions is the same for the whole piece: whether a signal came in, and whether the window
 * ends. It is found out once, and then most instructions need only their effect (x86/effect.h).
 * Others, such as calls and strings, go the long way of walk.c, and the piece goes on behind. */
#include "trace/walk.h"

/* Whether each instruction is given, up to a number at most. */
static bool has_open_window(const struct trace_walk *walk) {
    return !walk->ended && !walk->ends && !walk->between && !walk->skipped && !walk->repeats &&
           !walk->trace->window.function;
}

void begin_straight(struct trace_walk *walk, struct frame *frame) {
    const struct piece *piece = &frame->function->pieces[frame->piece];
    walk->straight = NULL;
    if (frame->index >= piece->count || !has_open_window(walk) ||
        peek(walk)->kind == QUIPU_TRACE_HANDLER)
        return;
    walk->straight = frame;
    walk->straight_next = &piece->instructions[frame->index];
    walk->straight_end = piece->instructions + piece->count;
}

void take_effect(struct trace_walk *walk, struct frame *frame,
                 const struct traced_instruction *instruction) {
    const struct effect *effect = &instruction->effect;
    reference_list *references = &walk->step.references;
    uint64_t next = instruction->address + instruction->decoded.size + frame->loaded->bias;
    walk->stack_known = frame->known & REGISTER_RSP;
    walk->stack = frame->values[STACK_POINTER];
    for (unsigned i = 0; i < effect->access_count; i++) {
        const struct effect_access *access = &effect->accesses[i];
        references->data[i] =
            (struct reference){effect_address(access, frame->values), access->size, access->writes,
                               !(access->needs & ~frame->known)};
    }
    references->count = effect->access_count;
    frame->has_vectors = false;
    frame->known = follow_effect(effect, &instruction->decoded, next, frame->values, frame->known);
}

struct trace_step *trace_straight_step(struct trace_walk *walk) {
    struct frame *frame = walk->straight;
    if (!frame || walk->straight_next == walk->straight_end ||
        walk->straight_next->effect.kind == EFFECT_LONG || walk->ended)
        return NULL;
    const struct traced_instruction *instruction = walk->straight_next++;
    struct trace_step *step = &walk->step;
    uint64_t first = walk->trace->window.first;
    frame->index++;
    step->gap = (struct trace_gap){0};
    step->gap_references.count = 0;
    step->changes_heap = false;
    step->instruction = instruction;
    step->address = instruction->shown + frame->loaded->bias;
    take_effect(walk, frame, instruction);
    walk->ended = first && ++walk->given >= first;
    return step;
}
