/* caller.c: the place in traced code from which a library was called that a signal has interrupted.
 *
 * Calls of functions that always return have no record behind them. So only the address behind the
 * call, which is on the stack, tells which of the calls of a path was interrupted. It is the first
 * word above the stack pointer that is an address behind a call in traced code.
 *
 * Not perfect: a function of a library may have an old such address in its own frame, in a variable
 * without a value. Readers take an address to which no path leads for none. */
#include "runtime/core/syscall.h"
#include "runtime/trace/trace.h"

#include <link.h>

enum {
    STACK_LOOKED_AT = 8192 /* bytes above the stack pointer */
};

void quipu_trace_add_code(struct trace *trace, const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum && trace->code_count < CODE_MOST; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        uint64_t begin = info->dlpi_addr + segment->p_vaddr;
        trace->code[trace->code_count++] = (struct code_range){begin, begin + segment->p_memsz};
    }
}

static bool is_traced(const struct trace *trace, uint64_t address) {
    for (uint32_t i = 0; i < trace->code_count; i++)
        if (address - trace->code[i].begin < trace->code[i].end - trace->code[i].begin)
            return true;
    return false;
}

/* Whether an instruction in front of ADDRESS, in the code of a module, may be a call: direct, by an
 * address in memory, or by a register. */
static bool is_behind_call(uint64_t address) {
    const uint8_t *code = (const uint8_t *)address;
    return code[-5] == 0xe8 || (code[-6] == 0xff && (code[-5] & 0x38) == 0x10) ||
           (code[-3] == 0xff && (code[-2] & 0x38) == 0x10) ||
           (code[-2] == 0xff && (code[-1] & 0x38) == 0x10);
}

uint64_t quipu_trace_find_caller(const struct trace *trace, uint64_t address, uint64_t stack) {
    enum {
        LONGEST_CALL = 6
    };
    uint64_t end = stack + STACK_LOOKED_AT;
    if (is_traced(trace, address) || stack % 8)
        return address;
    for (uint64_t at = stack; at < end; at += 8) {
        if (at % QUIPU_PAGE == 0 && !quipu_trace_is_readable(at))
            return address;
        uint64_t word = *(const uint64_t *)at;
        if (is_traced(trace, word - LONGEST_CALL) && is_traced(trace, word) && is_behind_call(word))
            return word | QUIPU_TRACE_IN_CALL;
    }
    return address;
}
