/* walk_tail.c: jumps to known functions, whose results are recorded; see walk.h.
 *
 * The program runs such a jump as a call of the function, a record of the result, and a return
 * (src/pass/trace/tail_call.c). So the frame stays until that record. If the function does not
 * return, its caller's next record ends the frame, as it ends those of other calls. */
#include "trace/walk.h"

void leave_by_tail(struct trace_walk *walk, struct frame *frame, const struct path_edge *e) {
    note_call(walk, frame);
    frame->values[STACK_POINTER] -= sizeof(uint64_t); /* keeps it aligned at the call */
    walk->leaving = (struct leaving){.leaves = true,
                                     .gap = gap_of(frame->function, frame),
                                     .known = frame->known & REGISTER_RSP,
                                     .stack = frame->values[STACK_POINTER] - sizeof(uint64_t),
                                     .calls = true};
    frame->calls = true;
    frame->tail = e->record;
}

bool is_tail_result(const struct item *item) {
    const struct record_note *note = &item->function->records[item->record];
    return note->edge != NONE_OF &&
           has_tail_result(item->function, &item->function->edges[note->edge]);
}

bool is_tail_of_caller(struct trace_walk *walk, const struct frame *frame) {
    const struct item *item = peek(walk);
    return is_tail_result(item) && frame->begun && item->stack + sizeof(uint64_t) != frame->entry;
}

/* Returns the innermost frame that waits for the next record, or NULL. */
static struct frame *find_waiting(struct trace_walk *walk) {
    const struct item *item = peek(walk);
    for (size_t i = walk->frames.count; i-- > 0;) {
        struct frame *frame = &walk->frames.data[i];
        if (frame->calls && frame->tail == item->record + 1 && frame->function == item->function &&
            frame->values[STACK_POINTER] == item->stack)
            return frame;
    }
    return NULL;
}

/* Whether traced code, called by the jump, has returned to it. */
static bool has_returned(const struct trace_walk *walk, const struct frame *frame) {
    const struct leaving *leaving = &walk->leaving;
    return leaving->leaves && leaving->known && leaving->stack == frame->values[STACK_POINTER];
}

void take_tail_result(struct trace_walk *walk) {
    struct leaving *leaving = &walk->leaving;
    struct frame *frame = find_waiting(walk);
    if (!frame) { /* it began before the trace */
        skip_noted_record(walk, &walk->item.function->records[walk->item.record]);
        return;
    }
    bool direct = has_returned(walk, frame);
    take_record(walk, frame, frame->tail - 1);
    if (direct) { /* and goes on to this function's caller */
        leaving->gap = gap_of(frame->function, NULL);
        leaving->known = frame->direct;
        leaving->stack = frame->entry + sizeof(uint64_t);
        leaving->calls = false;
    } else {
        walk->call.values.has_result = true;
        walk->call.values.result = frame->values[0];
        leaving->known = false; /* other code ran before the caller goes on */
    }
    walk->frames.count = (size_t)(frame - walk->frames.data);
}
