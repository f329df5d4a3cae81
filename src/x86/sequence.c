/* sequence.c: the instructions that are inserted; see sequence.h.
 *
 * An increment is one instruction with memory as its operand wherever it can be, and it always is
 * the only one that touches the cell: a signal handler between two instructions loses nothing.
 * Flags that live are kept in %rax; registers that cannot be had, on the stack below the red zone.
 */
#include "x86/sequence.h"

#include "data/format.h"

#include <string.h>

static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

enum {
    RAX = 0,
    R11 = 11,
    RED_ZONE = 128
};

/* Caller-saved registers, those first that compilers use last. */
const uint8_t base_candidates[BASE_CANDIDATES] = {11, 10, 9, 8, 1, 2, 6, 7, 0};

void write_frame(struct buffer *out, const struct frame_row *frame, int64_t pushed) {
    if (!frame->known)
        return;
    buffer_print(out, ".cfi_remember_state; .cfi_def_cfa %s, %lld; ", frame->base,
                 (long long)(frame->offset + (frame->by_rsp ? pushed : 0)));
}

void write_frame_end(struct buffer *out, const struct frame_row *frame) {
    if (frame->known)
        buffer_text(out, "; .cfi_restore_state");
}

/* Puts CALL, of the runtime, out of line.  It runs below the red zone, where that is in use. */
static void write_stub(const struct code_context *context, uint32_t label, const char *call,
                       const struct load_place *place) {
    struct buffer *out = context->stubs;
    int below = place->at_entry ? 0 : RED_ZONE;
    buffer_print(out, "; .LQs%u: ", label);
    write_frame(out, &place->frame, below);
    if (below)
        buffer_print(out, "leaq -%d(%%rsp), %%rsp; %s; leaq %d(%%rsp), %%rsp", below, call, below);
    else
        buffer_text(out, call);
    buffer_print(out, "; jmp .LQr%u", label);
    write_frame_end(out, &place->frame);
}

/* Moves the stack pointer by PUSHED bytes for the unwinder's eyes. */
static void write_adjust(struct buffer *out, const struct frame_row *frame, int pushed) {
    if (frame->known && frame->by_rsp)
        buffer_print(out, "; .cfi_adjust_cfa_offset %d", pushed);
}

/* A thread that has no cells yet is given them; %gs then leads there. */
static void write_check(struct buffer *out, const struct code_context *context,
                        const struct load_place *place) {
    uint32_t label = ++*context->labels;
    buffer_print(out, "cmpb $0, %%fs:quipu_bias@tpoff+7; js .LQs%u; .LQr%u:", label, label);
    write_stub(context, label, "call quipu_attach_segment", place);
}

void write_load(struct buffer *out, const struct code_context *context, int base,
                const struct load_place *place) {
    if (base == BASE_SEGMENT) {
        write_check(out, context, place);
        return;
    }
    const char *reg = names[base];
    uint32_t label = ++*context->labels;
    buffer_print(out,
                 "movq quipu_bias@gottpoff(%%rip), %%%s; movq %%fs:(%%%s), %%%s; "
                 "addq .LQd%u@GOTPCREL(%%rip), %%%s; js .LQs%u; .LQr%u:",
                 reg, reg, reg, context->cells, reg, label, label);
    if (base == R11) {
        write_stub(context, label, "call quipu_attach", place);
        return;
    }
    struct buffer call = {0}; /* the runtime speaks %r11 */
    buffer_print(&call, "xchgq %%r11, %%%s; call quipu_attach; xchgq %%r11, %%%s", reg, reg);
    write_stub(context, label, call.data, place);
    buffer_release(&call);
}

static void write_plain(struct buffer *out, const struct code_context *context, uint32_t cell,
                        int base) {
    if (base == BASE_SEGMENT)
        buffer_print(out, "incq %%gs:.LQc%u+%u(%%rip)", context->cells, 8 * (cell - 1));
    else
        buffer_print(out, "incq %d(%%%s)", 8 * ((int)cell - 1) - QUIPU_BIAS, names[base]);
}

uint32_t increment_size(int base) {
    return base == BASE_SEGMENT ? 8 : 4;
}

/* A register that may be changed, other than %rax and NOT; -1: there is none. */
static int find_scratch(uint16_t free, int not ) {
    for (int i = 0; i < BASE_CANDIDATES; i++) {
        int candidate = base_candidates[i];
        if (candidate != RAX && candidate != not &&(free >> candidate & 1))
            return candidate;
    }
    return -1;
}

/* Flags to %rax and back: lahf keeps all but overflow, seto that one; adding 127 to 1 makes it
 * again.  Much cheaper than pushfq and popfq. */
#define SAVE_FLAGS    "lahf; seto %al; "
#define RESTORE_FLAGS "; addb $127, %al; sahf"

/* The base holds; flags live. */
static void write_keeping_flags(struct buffer *out, const struct code_context *context,
                                uint32_t cell, const struct quiet *quiet) {
    bool rax_free = quiet->free >> RAX & 1;
    int scratch = find_scratch(quiet->free, quiet->base);
    if (quiet->base == RAX) { /* nowhere to keep flags but the stack */
        buffer_print(out, "leaq -%d(%%rsp), %%rsp; pushfq", RED_ZONE);
        write_adjust(out, &quiet->frame, RED_ZONE + 8);
        buffer_text(out, "; ");
        write_plain(out, context, cell, quiet->base);
        buffer_print(out, "; popfq; leaq %d(%%rsp), %%rsp", RED_ZONE);
        write_adjust(out, &quiet->frame, -RED_ZONE - 8);
    } else if (rax_free || scratch >= 0) {
        if (!rax_free)
            buffer_print(out, "movq %%rax, %%%s; ", names[scratch]);
        buffer_text(out, SAVE_FLAGS);
        write_plain(out, context, cell, quiet->base);
        buffer_text(out, RESTORE_FLAGS);
        if (!rax_free)
            buffer_print(out, "; movq %%%s, %%rax", names[scratch]);
    } else {
        buffer_print(out, "leaq -%d(%%rsp), %%rsp; pushq %%rax", RED_ZONE);
        write_adjust(out, &quiet->frame, RED_ZONE + 8);
        buffer_text(out, "; " SAVE_FLAGS);
        write_plain(out, context, cell, quiet->base);
        buffer_text(out, RESTORE_FLAGS "; popq %rax; ");
        buffer_print(out, "leaq %d(%%rsp), %%rsp", RED_ZONE);
        write_adjust(out, &quiet->frame, -RED_ZONE - 8);
    }
}

/* Nothing can be had: everything goes by the stack. */
static void write_spilling(struct buffer *out, const struct code_context *context, uint32_t cell,
                           const struct quiet *quiet) {
    struct load_place below = {.frame = quiet->frame};
    below.frame.offset += below.frame.by_rsp ? RED_ZONE + 16 : 0;
    buffer_print(out, "leaq -%d(%%rsp), %%rsp; pushq %%r11; pushq %%rax", RED_ZONE);
    write_adjust(out, &quiet->frame, RED_ZONE + 16);
    buffer_text(out, "; " SAVE_FLAGS);
    int base = quiet->base == BASE_SEGMENT ? BASE_SEGMENT : R11;
    write_load(out, context, base, &below);
    buffer_text(out, " ");
    write_plain(out, context, cell, base);
    buffer_text(out, RESTORE_FLAGS "; popq %rax; popq %r11; ");
    buffer_print(out, "leaq %d(%%rsp), %%rsp", RED_ZONE);
    write_adjust(out, &quiet->frame, -RED_ZONE - 16);
}

bool write_increment(struct buffer *out, const struct code_context *context, uint32_t cell,
                     const struct quiet *quiet) {
    if (quiet->base_holds) {
        if (quiet->flags_but_carry)
            write_plain(out, context, cell, quiet->base);
        else
            write_keeping_flags(out, context, cell, quiet);
        return true;
    }
    int base = quiet->base_free ? quiet->base : find_scratch(quiet->free, -1);
    if (base < 0 && (quiet->free >> RAX & 1))
        base = RAX;
    if (base < 0 || !quiet->flags_free) {
        write_spilling(out, context, cell, quiet);
        return false;
    }
    write_load(out, context, base, &(struct load_place){.frame = quiet->frame});
    buffer_text(out, " ");
    write_plain(out, context, cell, base);
    return base == quiet->base;
}

void write_cells(struct buffer *out, uint32_t label, uint32_t count) {
    buffer_print(out, "\t.balign 8\n.LQc%u:\n\t.skip %u\n\t.set .LQd%u, .LQc%u+%d\n", label,
                 8 * count, label, label, QUIPU_BIAS);
}

const char *inverted_condition(const char *mnemonic, size_t count) {
    static const char *const pairs[][2] = {
        {"jo", "jno"},  {"jb", "jnb"},   {"jc", "jnc"},   {"jnae", "jae"}, {"jz", "jnz"},
        {"je", "jne"},  {"jbe", "jnbe"}, {"jna", "ja"},   {"js", "jns"},   {"jp", "jnp"},
        {"jpe", "jpo"}, {"jl", "jnl"},   {"jnge", "jge"}, {"jle", "jnle"}, {"jng", "jg"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int side = 0; side < 2; side++)
            if (strlen(pairs[i][side]) == count && memcmp(pairs[i][side], mnemonic, count) == 0)
                return pairs[i][!side];
    return NULL;
}
