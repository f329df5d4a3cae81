/* system_calls.c: system calls between labels that signal handlers ask for; see system_calls.h.
 *
 *     start: cmpl $0, (%rdi); jnz cancel; ...; syscall; end: ret          # musl, QEMU, valgrind
 *
 * A handler compares the interrupted instruction's address with such labels, and so tells whether
 * the call was begun, must be begun anew, or is done.  What is inserted between the call and the
 * label is neither; and a handler that goes on at the start would keep what an inserted sequence
 * has on the stack.
 *
 *     restore: mov $15, %rax; syscall                                 # rt_sigreturn
 *
 * Unwinders and debuggers know such code by its bytes: behind it stands what a signal interrupted.
 *
 *     mov $11, %eax; syscall; xor %edi, %edi; mov $60, %eax; syscall  # munmap of the stack, and
 * exit
 *
 * Between the two there is no stack, nor thread-local storage, if that lies beside it.
 *
 * Not perfect: a label that is not next to the call, but some instructions away.
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

/* Whether such a label of FUNCTION is at position AT of the section, or further on in the direction
 * of STEP, with nothing in between. */
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

/* The call that instructions in front of position AT of the section ask for. */
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

/* Whether control comes to position AT from another call of the kernel, and no stack is used on the
 * way. */
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
        if (!is_hand_written(unit, s)) /* a compiler knows of no stack that is gone */
            return false;
        if ((decoded->class != CLASS_PLAIN && decoded->class != CLASS_CONDITIONAL) ||
            (decoded->registers_read | decoded->registers_written) & REGISTER_RSP)
            return false;
    }
    return false;
}

/* Why nothing may be inserted around the system call of FUNCTION at position AT; NULL: no reason.
 */
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
