/* frame_end.c: the ends of functions with watched locals, and of threads with variables of their
 * own.
 *
 * What is watched there is compared first, if that was put off. The end of a function is reported
 * before its frame is freed (format/watch.h, section 2), so that the locals are still there.
 *
 * Not perfect: if the frame was freed in an earlier block, the locals are below the stack pointer.
 * They are not compared. */
#include "runtime/watch/watch.h"

enum {
    RED_ZONE = 128,
};

/* Words of entry.S's frame. */
enum {
    FRAME_RBP = 0,
    FRAME_ADDRESS = 2, /* where the CFA is */
    FRAME_STACK = 3,   /* the stack pointer, below the red zone */
};

void quipu_watch_function_ended(const uint64_t *frame);

/* Compares what is watched at or above LOWEST in FRAME of the calling thread. */
static void compare_ending(uint64_t frame, uint64_t lowest, uint64_t stack) {
    struct watch_range ranges[WATCH_BATCH];
    unsigned count = quipu_watch_is_put_off()
                         ? quipu_watch_frame_ranges(thread_pointer(), frame, lowest, ranges)
                         : 0;
    for (unsigned i = 0; i < count; i++)
        quipu_watch_compare_ending(ranges[i].address, ranges[i].address + ranges[i].length, stack);
}

void quipu_watch_function_ended(const uint64_t *frame) {
    uint64_t stack = (uint64_t)(frame + FRAME_STACK);
    int64_t address = (int64_t)frame[FRAME_ADDRESS];
    uint64_t base = address & 1 ? frame[FRAME_RBP] : stack + RED_ZONE;
    uint64_t cfa = base + (uint64_t)(address >> 1);
    if (!quipu_watch_has_activations())
        return;
    compare_ending(cfa, stack, stack);
    quipu_watch_end_frame(thread_pointer(), cfa);
}

void quipu_watch_thread_ended(void) {
    if (!quipu_watch_has_activations())
        return;
    compare_ending(WATCH_NO_FRAME, 0, (uint64_t)__builtin_frame_address(0));
    quipu_watch_end_thread();
}
