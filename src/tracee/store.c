/* store.c: finds the instruction that has just written what debug registers watch; see store.h.
 *
 * It is the instruction that ends where the thread is stopped. It is found by decoding the function
 * from its start. */
#include "tracee/store.h"

#include "symbols/backtrace.h"
#include "tracee/tracee.h"
#include "x86/accessed.h"
#include "x86/decode.h"
#include "x86/kernel.h"
#include "x86/trap.h"

enum {
    INSTRUCTION_MAX = 15,   /* bytes */
    FUNCTION_MAX = 1 << 22, /* bytes of the largest function that is read */
    STORED_AT_ONCE =
        4096 /* the most bytes that a repeated string instruction stores between two stops */
};

/* Returns the start of the function that contains ADDRESS of the process; 0: not known. */
static uint64_t function_start(const struct code_of *code, pid_t thread, uint64_t address) {
    if (!binary_segment(code->binary, address - code->bias))
        return find_function(thread, address);
    const struct symbol *symbol = binary_function(code->binary, address - code->bias);
    return symbol ? symbol->address + code->bias : 0;
}

struct writer {
    uint64_t address; /* 0: none */
    struct decoded decoded;
    bool has_range; /* it stored to [begin, end) */
    uint64_t begin, end;
};

/* Finds the instruction that ends at NEXT, by decoding its function from the start. */
static struct writer instruction_before(const struct code_of *program, pid_t thread,
                                        uint64_t next) {
    struct writer writer = {0};
    struct arena arena = {0};
    uint64_t start = function_start(program, thread, next - 1), at = start, last = 0;
    if (!start || next - start > FUNCTION_MAX)
        return writer;
    uint8_t *code = arena_alloc(&arena, next - start);
    if (read_memory(thread, start, code, next - start)) {
        while (at < next && decode_instruction(code + (at - start), next - at, &writer.decoded)) {
            last = at;
            at += writer.decoded.size;
        }
    }
    if (at == next && last && writer.decoded.class == CLASS_PLAIN &&
        writes_memory(&writer.decoded)) {
        writer.address = last;
        writer.has_range = stored_range(code + (last - start), next - last, last, thread,
                                        &writer.begin, &writer.end);
    }
    arena_release(&arena);
    return writer;
}

/* Whether the instruction at NEXT is a repeated string instruction that stores. Such an instruction
 * stops behind its stores, but in front of itself. */
static bool is_repeated_store(pid_t thread, uint64_t next) {
    uint8_t code[INSTRUCTION_MAX];
    struct decoded decoded;
    size_t size = sizeof code;
    while (size && !read_memory(thread, next, code, size))
        size--;
    return size && decode_instruction(code, size, &decoded) && decoded.repeats &&
           writes_memory(&decoded);
}

/* Whether a watch whose bit is in WRITTEN overlaps [BEGIN, END). */
static bool is_written(const struct watch *watch, unsigned written, uint64_t begin, uint64_t end) {
    for (size_t i = 0; i < watch->count; i++)
        if (written >> i & 1 && watch->addresses[i] < end &&
            begin < watch->addresses[i] + watch->sizes[i])
            return true;
    return false;
}

/* Debug registers stop directly behind the instruction. Only calls both store and continue
 * elsewhere.
 *
 * In front of a repeated store the writer may be that instruction or the one before it. The one
 * before is executed first. So if both may have stored there, and the thread's last write stopped
 * here, too, it is not known whether the one before was executed again. */
uint64_t find_writing_instruction(const struct code_of *program, pid_t thread,
                                  const struct watch *watch, unsigned written,
                                  uint64_t last_write) {
    uint64_t next = next_instruction(thread), place = first_argument(thread); /* %rdi */
    struct writer writer = instruction_before(program, thread, next);
    bool fits = writer.address &&
                (!writer.has_range || is_written(watch, written, writer.begin, writer.end));
    if (!is_repeated_store(thread, next))
        return fits ? writer.address : 0;
    if (!fits)
        return next;
    bool near = is_written(watch, written, place - STORED_AT_ONCE, place + STORED_AT_ONCE);
    if (near && (!writer.has_range || next == last_write))
        return 0;
    return writer.address;
}
