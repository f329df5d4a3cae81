/* walk_suspended.c: frames of coroutines, whose stacks the thread has left; see walk.h.
 *
 * When control comes back to a frame, those above it have returned without records, longjmp or an
 * exception has left them, or they are on the stack of a coroutine, which may go on later. Nothing
 * in the records tells which. So all are kept that wait for a call. A frame is suspended at its
 * stack pointer. Where another frame is suspended at the same one later, the stack has changed
 * meanwhile, and the earlier frame is gone.
 *
 * Not perfect: a frame is kept for each stack pointer at which one was left, as long as the walk. A
 * walk that begins in the middle of a thread knows only the stack that is in use there. */
#include "trace/walk.h"

void suspend_frames(struct trace_walk *walk, size_t first) {
    for (size_t i = first; i < walk->frames.count; i++) {
        struct frame frame = walk->frames.data[i];
        if (frame.handler) /* the kernel goes back below it, or nobody does */
            break;
        if (!frame.calls || frame.tail || !(frame.known & REGISTER_RSP))
            continue;
        uint32_t *number =
            map_add_copy(&walk->arena, &walk->suspended_at, &frame.values[STACK_POINTER],
                         sizeof frame.values[STACK_POINTER], (uint32_t)walk->suspended.count);
        if (*number == walk->suspended.count)
            vector_push(&walk->arena, &walk->suspended, frame);
        else
            *vector_at(&walk->suspended, *number) = frame;
    }
    walk->frames.count = first;
}

bool resume_suspended(struct trace_walk *walk, const struct traced_function *function,
                      uint64_t stack) {
    uint32_t *number = map_find(&walk->suspended_at, (const char *)&stack, sizeof stack);
    struct frame *frame = number ? vector_at(&walk->suspended, *number) : NULL;
    if (!frame || frame->function != function)
        return false;
    frame->chain = (uint32_t)walk->frames.count;
    vector_push(&walk->arena, &walk->frames, *frame);
    frame->function = NULL;
    return true;
}

void forget_suspended(struct trace_walk *walk) {
    for (size_t i = 0; i < walk->suspended.count; i++)
        walk->suspended.data[i].function = NULL;
}
