/* walk_stack.c: whose frame an address of the stack is in; see trace.h.
 *
 * A frame begins where the stack pointer was at the function's begin. It ends below the stack
 * pointer of now: 128 bytes that a function may use (System V ABI of x86-64, section 3.2.2), or the
 * return address of a function that it has called. The stack of code that is not traced lies
 * between frames, and belongs to none.
 *
 * Not perfect: a frame whose function began before the records has no known begin, and so do frames
 * while the stack pointer is not known. They have no addresses. */
#include "trace/walk.h"

uint32_t find_chain(const struct trace_walk *walk, uint64_t entry) {
    size_t count = walk->frames.count;
    const struct frame *caller = count ? &walk->frames.data[count - 1] : NULL;
    bool chained = caller && !walk->interrupts && caller->calls && caller->known & REGISTER_RSP &&
                   caller->values[STACK_POINTER] - sizeof(uint64_t) == entry;
    return chained ? caller->chain : (uint32_t)count;
}

/* Returns the lowest address of frame INDEX. */
static uint64_t lowest_address(const struct trace_walk *walk, size_t index) {
    const struct frame *frame = &walk->frames.data[index];
    uint64_t stack = frame->values[STACK_POINTER];
    bool innermost = index + 1 == walk->frames.count;
    if (innermost && walk->stack_known && walk->stack < stack)
        stack = walk->stack;
    return stack - (innermost || !frame->calls ? RED_ZONE : sizeof(uint64_t));
}

/* Returns the address behind frame INDEX. */
static uint64_t end_address(const struct trace_walk *walk, size_t index) {
    const struct frame *frame = &walk->frames.data[index];
    return frame->entry + (frame->chain < index ? 0 : sizeof(uint64_t));
}

/* Returns the innermost of the frames [FIRST, LAST], a chain, that does not end below ADDRESS. The
 * first one does not. */
static size_t search_chain(const struct trace_walk *walk, size_t first, size_t last,
                           uint64_t address) {
    while (first < last) {
        size_t middle = last - (last - first) / 2;
        if (address < end_address(walk, middle))
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

const struct traced_function *trace_frame_at(const struct trace_walk *walk, uint64_t address) {
    for (size_t count = walk->frames.count; count;) {
        size_t first = walk->frames.data[count - 1].chain;
        if (address < end_address(walk, first) && address >= lowest_address(walk, count - 1)) {
            size_t found = search_chain(walk, first, count - 1, address);
            const struct frame *frame = &walk->frames.data[found];
            if (frame->begun && frame->known & REGISTER_RSP &&
                address >= lowest_address(walk, found))
                return frame->function;
        }
        count = first;
    }
    return NULL;
}

bool trace_call_site(const struct trace_walk *walk, size_t depth, struct trace_gap *site) {
    if (depth >= walk->frames.count)
        return false;
    const struct frame *frame = &walk->frames.data[walk->frames.count - 1 - depth];
    *site = (struct trace_gap){.function = frame->function, .call = frame->call};
    return frame->call;
}

uint64_t trace_thread_pointer(const struct trace_walk *walk) {
    return walk->values.general.fs_base;
}
