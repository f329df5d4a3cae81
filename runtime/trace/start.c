/* start.c: the state of a thread where a chunk begins (struct quipu_trace_start, format/trace.h).
 *
 * Not perfect: of a deeper stack than QUIPU_TRACE_STACK_MOST the outermost frames are missing. Then
 * the chunk can be read only behind the one in front of it. */
#include "runtime/core/note.h"
#include "runtime/core/syscall.h"
#include "runtime/trace/trace.h"

#include <errno.h>

/* The kernel reads a set of signals there before it
 * finds that there is no such operation on sets. */
bool quipu_trace_is_readable(uint64_t address) {
    enum {
        NO_OPERATION = 99
    };
    return SYSTEM_CALL(rt_sigprocmask, NO_OPERATION, address, 0, 8, 0, 0) != -EFAULT;
}

/* Returns how many bytes of the stack from BEGIN can be read, at most QUIPU_TRACE_STACK_MOST.
 * Nothing that is at or above the address LIMIT, and not far, is needed. */
static uint64_t measure_stack(uint64_t begin, uint64_t limit) {
    uint64_t end = round_up(begin + 1, QUIPU_PAGE);
    if (limit - begin < QUIPU_TRACE_STACK_MOST)
        return (limit - begin) & ~7ull;
    while (end - begin + QUIPU_PAGE <= QUIPU_TRACE_STACK_MOST && quipu_trace_is_readable(end))
        end += QUIPU_PAGE;
    return (end - begin) & ~7ull;
}

uint32_t quipu_trace_describe_start(const struct trace *trace, char *records,
                                    const struct full_frame *frame) {
    const uint64_t *base = frame->base, *kept = frame->kept;
    struct quipu_trace_start *start = (void *)records;
    *start = (struct quipu_trace_start){
        .address = base[1],
        .registers = {base[-2], base[-3], base[-4], kept[0], (uint64_t)(base + 2), base[0],
                      base[-5], base[-6], base[-7], base[-8], base[-9], base[-10], kept[1], kept[2],
                      kept[3], kept[4]},
        .stack = measure_stack((uint64_t)(base + 2), trace->environment),
    };
    const char *from = (const char *)(base + 2);
    char *to = (char *)(start + 1);
    uint64_t size = start->stack;
    __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(size) : : "memory");
    return (uint32_t)(sizeof *start + start->stack);
}
