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
 * Not perfect: a label that is not next to the call, but some instructions away.
 *
 * requires: find_functions, measure_unit   makes: asm_function.left_alone */
#include "flow/system_calls.h"

#include "x86/measure.h"

static const char label_reason[] = "a label next to a system call is known elsewhere";
static const char handler_reason[] = "it ends a signal handler, and unwinders know it by its bytes";

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

/* Whether the instruction in front of position AT of the section makes the call there the one that
 * ends a signal handler. */
static bool ends_handler(const struct unit *unit, const struct section *section, size_t at) {
    while (at-- > 0) {
        uint32_t index = section->statements.data[at];
        const struct statement *s = &unit->statements.data[index];
        if (s->kind == STATEMENT_INSTRUCTION)
            return unit->code->decoded[index].ends_handler;
        if (s->kind == STATEMENT_LABEL || s->data || s->opaque || s->aligns)
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
    return ends_handler(unit, section, at) ? handler_reason : NULL;
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
