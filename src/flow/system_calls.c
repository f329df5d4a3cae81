/* system_calls.c: system calls at which nothing may be inserted; see system_calls.h.
 *
 *     start: cmpl $0, (%rdi); jnz cancel; ...; syscall; end: ret          # musl, QEMU, valgrind
 *
 * A handler compares the address of the interrupted instruction with such labels. From this it
 * knows whether the call has begun, must be restarted, or is done. Code inserted between the call
 * and a label is none of these. A handler that continues at the start would also leave on the stack
 * what an inserted sequence has saved there.
 *
 *     restore: mov $15, %rax; syscall                                 # rt_sigreturn
 *
 * Unwinders and debuggers recognize such code by its bytes. The next frame is that of the code that
 * a signal interrupted.
 *
 *     mov $11, %eax; syscall; xor %edi, %edi; mov $60, %eax; syscall  # munmap of its stack, exit
 *
 * Between the two calls there is no stack. There is no thread-local storage, either, if it is
 * beside the stack.
 *
 * Not perfect: a label some instructions away from the call is not found.
 *
 * requires: find_functions, measure_unit   makes: asm_function.left_alone */
#include "flow/system_calls.h"

#include "x86/measure.h"

static const char label_reason[] = "a label next to a system call is known elsewhere";
static const char handler_reason[] = "it ends a signal handler, and unwinders know it by its bytes";
static const char stack_reason[] = "it ends its thread when the stack may be gone";

static bool is_known_elsewhere(const struct unit *unit, const struct statement *label) {
    const struct symbol *symbol = &unit->symbols.data[label->symbol];
    return symbol->global || symbol->address_taken || symbol->aliased;
}

/* Whether a label of FUNCTION that is known elsewhere, and is not its entry, is at position AT of
 * the section, or further in the direction of STEP with no bytes in between. */
static bool has_label(const struct unit *unit, const struct section *section, uint32_t function,
                      size_t at, int step) {
    for (; at < section->statements.count; at += (size_t)step) {
        uint32_t index = section->statements.data[at];
        const struct statement *s = &unit->statements.data[index];
        if (s->kind == STATEMENT_INSTRUCTION || s->data || s->opaque || s->aligns)
            return false;
        bool entry = unit->symbols.data[unit->functions.data[function].symbol].statement == index;
        if (s->kind == STATEMENT_LABEL && unit->function_of[index] == function && !entry &&
            is_known_elsewhere(unit, s))
            return true;
    }
    return false;
}

/* Returns the system call whose number the instructions before position AT of the section set. */
static enum asked_call asked_at(const struct unit *unit, const struct section *section, size_t at) {
    while (at-- > 0) {
        uint32_t index = section->statements.data[at];
        const struct statement *s = &unit->statements.data[index];
        const struct decoded *decoded = &unit->code->decoded[index];
        if (s->kind == STATEMENT_LABEL || s->data || s->opaque || s->aligns)
            break;
        if (s->kind != STATEMENT_INSTRUCTION || s->prefix)
            continue;
        if (decoded->registers_written & REGISTER_RAX || decoded->class != CLASS_PLAIN)
            return (enum asked_call)decoded->asks;
    }
    return ASKED_ANY;
}

/* Whether control comes to position AT from another system call, and no instruction in between uses
 * the stack. */
static bool follows_call(const struct unit *unit, const struct section *section, uint32_t function,
                         size_t at) {
    while (at-- > 0) {
        uint32_t index = section->statements.data[at];
        const struct statement *s = &unit->statements.data[index];
        const struct decoded *decoded = &unit->code->decoded[index];
        if (s->data || s->opaque || unit->function_of[index] != function)
            return false;
        if (s->kind != STATEMENT_INSTRUCTION || s->prefix)
            continue;
        if (decoded->class == CLASS_SYSTEM)
            return true;
        if (!is_hand_written(unit, s)) /* compiled code relies on its stack */
            return false;
        if ((decoded->class != CLASS_PLAIN && decoded->class != CLASS_CONDITIONAL) ||
            (decoded->registers_read | decoded->registers_written) & REGISTER_RSP)
            return false;
    }
    return false;
}

/* Returns the reason why nothing may be inserted at the system call of FUNCTION at position AT.
 * NULL: none. */
static const char *find_reason(const struct unit *unit, const struct section *section,
                               uint32_t function, size_t at) {
    if (has_label(unit, section, function, at + 1, 1) ||
        has_label(unit, section, function, at - 1, -1))
        return label_reason;
    enum asked_call asked = asked_at(unit, section, at);
    if (asked == ASKED_HANDLER_END)
        return handler_reason;
    return asked == ASKED_THREAD_END && follows_call(unit, section, function, at) ? stack_reason
                                                                                  : NULL;
}

void leave_system_calls(struct unit *unit) {
    if (!has_hand_written(unit))
        return;
    for (size_t i = 0; i < unit->sections.count; i++) {
        const struct section *section = &unit->sections.data[i];
        for (size_t at = 0; section->executable && at < section->statements.count; at++) {
            uint32_t index = section->statements.data[at], function = unit->function_of[index];
            const struct statement *s = &unit->statements.data[index];
            if (s->kind == STATEMENT_INSTRUCTION && function != NONE && is_hand_written(unit, s) &&
                unit->code->decoded[index].class == CLASS_SYSTEM &&
                !unit->functions.data[function].left_alone)
                unit->functions.data[function].left_alone =
                    find_reason(unit, section, function, at);
        }
    }
}
