/* store_check.c: checks of stores; see store_check.h.
 *
 *           leaq    OPERAND, %rX
 *           shrq    $6, %rX
 *           cmpb    $0, QUIPU_WATCH_SHADOW(%rX)
 *           jne     .LQx
 *
 * if a register is free and no flag is live. A store that has several addresses, or is longer than
 * QUIPU_WATCH_SPAN, tests whether there is any region. */
#include "x86/store_check.h"

#include "format/watch.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    RAX = 0,
    SCATTER_SIZE = sizeof(struct quipu_scatter),
};

bool is_seen_at_once(const struct access *store) {
    if (store->segment) /* only the kernel knows the base */
        return false;
    switch (store->kind) {
    case ACCESS_PLAIN:
    case ACCESS_MASKED:
    case ACCESS_BIT:
    case ACCESS_STACK:
    case ACCESS_LINE:
        return store->size <= QUIPU_WATCH_SPAN;
    default:
        return false;
    }
}

bool is_store_check(const uint8_t *code, size_t count) {
    enum {
        CMP = 0x80,
        BY_REGISTER = 0xb8, /* cmpb $, disp32(%r) */
        SIZE = 7,
    };
    uint32_t shadow;
    if (count < SIZE + 2 || code[0] != CMP || (code[1] & 0xf8) != BY_REGISTER ||
        code[SIZE] != 0x0f || code[SIZE + 1] != 0x85)
        return false;
    memcpy(&shadow, code + 2, sizeof shadow);
    return shadow == QUIPU_WATCH_SHADOW && code[SIZE - 1] == 0;
}

static void write_jump(struct buffer *out, uint32_t label) {
    buffer_print(out, ".LQp%u: {disp32} jne .LQx%u", label, label);
}

/* Converts the address in REG to the index of its byte in the shadow. If a mask selects no element,
 * the store's address may be outside of the address space. Then the index belongs to another
 * address. */
static void write_index(struct buffer *out, const struct access *store, const char *reg) {
    bool may_be_none = store->kind == ACCESS_MASKED;
    if (may_be_none)
        buffer_print(out, "shlq $%d, %%%s; ", 64 - QUIPU_WATCH_ADDRESS_BITS, reg);
    buffer_print(out, "shrq $%d, %%%s; ",
                 QUIPU_WATCH_GRANULE_BITS + (may_be_none ? 64 - QUIPU_WATCH_ADDRESS_BITS : 0), reg);
}

/* The test itself. It changes REG and the flags. */
static void write_question(struct buffer *out, const struct access_address *address, int reg,
                           int raised, uint32_t label) {
    if (is_seen_at_once(address->access)) {
        write_address(out, address, reg, raised);
        buffer_text(out, "; ");
        write_index(out, address->access, register_name(reg));
        buffer_print(out, "cmpb $0, 0x%x(%%%s); ", QUIPU_WATCH_SHADOW, register_name(reg));
    } else {
        buffer_print(out, "cmpb $0, 0x%x; ", QUIPU_WATCH_AREA);
    }
    write_jump(out, label);
}

/* Restores what write_spilling has saved on the stack. */
static void write_spilled(struct buffer *out, const struct frame_row *frame, bool keeps_flags) {
    if (keeps_flags)
        write_pop(out, frame, "popfq");
    write_pop(out, frame, "popq %rax");
    write_last_move(out, frame, RED_ZONE);
}

/* With the stack: no register is free, or the test itself uses the stack. */
static enum check_effect write_spilling(struct buffer *out, const struct access_address *address,
                                        const struct clobbers *clobbers, uint32_t label) {
    bool keeps_flags = !clobbers->flags_free;
    int raised = RED_ZONE + (keeps_flags ? 16 : 8);
    write_stack_move(out, &clobbers->frame, -RED_ZONE);
    write_push(out, &clobbers->frame, "pushq %rax");
    if (keeps_flags)
        write_push(out, &clobbers->frame, "pushfq");
    write_question(out, address, RAX, raised, label);
    buffer_text(out, "; ");
    write_spilled(out, &clobbers->frame, keeps_flags);
    return keeps_flags ? CHECK_KEEPS_ALL : CHECK_KEEPS_ON_STACK;
}

enum check_effect write_store_check(struct buffer *out, const struct access_address *address,
                                    const struct clobbers *clobbers, uint32_t label) {
    const struct access *store = address->access;
    int scratch = find_scratch(clobbers->free, -1);
    bool rax_free = clobbers->free >> RAX & 1, at_once = is_seen_at_once(store);
    if (store->kind == ACCESS_BIT)
        return write_spilling(out, address, clobbers, label);
    if (clobbers->flags_free && (scratch >= 0 || rax_free || !at_once)) {
        write_question(out, address, scratch >= 0 ? scratch : RAX, 0, label);
        return CHECK_CHANGES_NOTHING;
    }
    if (!clobbers->flags_free && rax_free && (scratch >= 0 || !at_once)) {
        buffer_text(out, SAVE_FLAGS);
        write_question(out, address, scratch, 0, label);
        buffer_text(out, RESTORE_FLAGS);
        return CHECK_KEEPS_IN_RAX;
    }
    return write_spilling(out, address, clobbers, label);
}

void write_check_end(struct buffer *out, enum check_effect effect, const struct frame_row *frame) {
    switch (effect) {
    case CHECK_CHANGES_NOTHING:
        return;
    case CHECK_KEEPS_IN_RAX:
        buffer_text(out, &RESTORE_FLAGS[strlen("; ")]);
        buffer_text(out, "; ");
        return;
    case CHECK_KEEPS_ON_STACK:
    case CHECK_KEEPS_ALL:
        write_adjust(out, frame, RED_ZONE + (effect == CHECK_KEEPS_ALL ? 16 : 8));
        buffer_text(out, "; ");
        write_spilled(out, frame, effect == CHECK_KEEPS_ALL);
        buffer_text(out, "; ");
    }
}

/* Whether address and size do not describe the whole store. */
static bool has_extra(const struct access *store) {
    return store->kind == ACCESS_MASKED || store->kind == ACCESS_STRING;
}

/* Pushes the word that describes the rest. */
static void write_extra(struct buffer *out, const struct access *store,
                        const struct frame_row *frame) {
    if (store->kind == ACCESS_STRING) {
        write_push(out, frame, "pushq %rcx");
        return;
    }
    write_push(out, frame, "pushq %rax");
    bool wide = store->size >> store->element > 16;
    if (store->mask_kind == MASK_REGISTER)
        buffer_print(out, "kmov%c %%k%u, %%%s", wide ? 'q' : 'w', store->mask,
                     wide ? "rax" : "eax");
    else if (store->mask_kind == MASK_BYTES)
        buffer_print(out, "pmovmskb %%xmm%u, %%eax", store->mask);
    else
        buffer_print(out, "vmovmskp%c %%%cmm%u, %%eax", store->element == 3 ? 'd' : 's',
                     store->wide_mask ? 'y' : 'x', store->mask);
    if (store->compresses)
        buffer_text(out, "; pextq %rax, %rax, %rax");
    buffer_text(out, "; xchgq %rax, (%rsp); ");
}

static uint32_t describe(const struct access *store, uint8_t length) {
    static const uint8_t kinds[] = {
        [ACCESS_PLAIN] = QUIPU_STORE_PLAIN,   [ACCESS_MASKED] = QUIPU_STORE_MASKED,
        [ACCESS_STRING] = QUIPU_STORE_STRING, [ACCESS_SCATTERED] = QUIPU_STORE_SCATTER,
        [ACCESS_STATE] = QUIPU_STORE_STATE,   [ACCESS_BIT] = QUIPU_STORE_PLAIN,
        [ACCESS_STACK] = QUIPU_STORE_PLAIN,   [ACCESS_LINE] = QUIPU_STORE_PLAIN,
    };
    return QUIPU_STORE_DESCRIPTION(store->size, kinds[store->kind], store->element, length) |
           (store->segment ? QUIPU_STORE_BY_GS : 0);
}

/* Puts the elements' addresses below the red zone, as a struct quipu_scatter. */
static void write_scatter_begin(struct buffer *out, const struct access_address *address,
                                uint8_t length, const struct frame_row *frame) {
    const struct access *store = address->access;
    const char *scratch = store->base == RAX ? "rcx" : "rax";
    int room = RED_ZONE + SCATTER_SIZE, first = 8 + (int)offsetof(struct quipu_scatter, addresses);
    buffer_print(out, "leaq -%d(%%rsp), %%rsp", room);
    write_adjust(out, frame, room);
    buffer_print(out, "; pushq %%%s", scratch);
    write_adjust(out, frame, 8);
    buffer_print(out,
                 "; kmovw %%k%u, %%e%s; movq %%%s, 8(%%rsp); movq $%u, 16(%%rsp); "
                 "vmovdqu64 %%zmm%u, %d(%%rsp); ",
                 store->mask, scratch + 1, scratch, store->count, store->index_vector, first);
    for (int i = store->count - 1; i >= 0;
         i--) { /* from the last: an address may be wider than an index */
        buffer_print(out, "%s %d(%%rsp), %%%s; ", store->wide_indices ? "movq" : "movslq",
                     first + (store->wide_indices ? 8 : 4) * i, scratch);
        write_element_address(out, address, scratch, room + 8);
        buffer_print(out, "movq %%%s, %d(%%rsp); ", scratch, first + 8 * i);
    }
    buffer_print(out, "leaq 8(%%rsp), %%%s; xchgq %%%s, (%%rsp); pushq $0", scratch, scratch);
    write_adjust(out, frame, 8);
    buffer_print(out, "; pushq $0x%x", describe(store, length));
    write_adjust(out, frame, 8);
    buffer_text(out, "; call quipu_watch_begin_more");
    write_adjust(out, frame, -RED_ZONE - 24);
    buffer_text(out, "; ");
    write_stack_move(out, frame, SCATTER_SIZE);
}

void write_store_begin(struct buffer *out, const struct access_address *address, uint8_t length,
                       const struct frame_row *frame) {
    const struct access *store = address->access;
    if (store->kind == ACCESS_SCATTERED) {
        write_scatter_begin(out, address, length, frame);
        return;
    }
    bool flags = address_changes_flags(store), more = has_extra(store);
    int pushed = more ? 24 : 16;
    write_stack_move(out, frame, -RED_ZONE);
    if (more)
        write_extra(out, store, frame);
    write_push(out, frame, "pushq %rax");
    if (flags)
        write_push(out, frame, "pushfq");
    write_address(out, address, RAX, RED_ZONE + pushed - 8 + (flags ? 8 : 0));
    if (flags) {
        buffer_text(out, "; popfq");
        write_adjust(out, frame, -8);
    }
    buffer_print(out, "; xchgq %%rax, (%%rsp); pushq $0x%x", describe(store, length));
    write_adjust(out, frame, 8);
    buffer_print(out, "; call quipu_watch_begin%s", more ? "_more" : "");
    write_adjust(out, frame, -RED_ZONE - pushed);
    buffer_text(out, "; ");
}

void write_store_end(struct buffer *out, const struct access *store,
                     const struct frame_row *frame) {
    int further = store->kind == ACCESS_SCATTERED ? SCATTER_SIZE : 0;
    buffer_print(out, "leaq -%d(%%rsp), %%rsp", RED_ZONE + further);
    write_adjust(out, frame, RED_ZONE + further);
    buffer_text(out, "; call quipu_watch_end");
    write_adjust(out, frame, -RED_ZONE);
    buffer_text(out, "; ");
    if (further)
        write_stack_move(out, frame, further);
}

void write_call_store(struct buffer *out, uint32_t label, const struct frame_row *frame) {
    write_stack_move(out, frame, -RED_ZONE);
    buffer_print(out, "pushq $.LQy%u-.LQcr%u", label, label);
    write_adjust(out, frame, 8);
    buffer_print(out, "; call quipu_watch_return; .LQcr%u:", label);
    write_adjust(out, frame, -RED_ZONE - 8);
    buffer_text(out, "; ");
}

void write_below_stack_pointer(struct buffer *out, const char *back, uint32_t label) {
    buffer_print(out, "cmpq %%rsp, 0x%x; jae %s%u; ", QUIPU_WATCH_STACK_LOWEST, back, label);
    buffer_print(out, "cmpq %%rsp, 0x%x; jbe %s%u; ", QUIPU_WATCH_STACK_HIGHEST, back, label);
}

void write_frame_pointer(struct buffer *out, const struct frame_row *frame) {
    write_push(out, frame, "pushq %rbp");
    write_stack_move(out, frame, 8);
}

void write_watch_symbols(struct buffer *out, bool shared) {
    buffer_text(out, "\t.hidden quipu_watch_begin\n\t.hidden quipu_watch_begin_more\n"
                     "\t.hidden quipu_watch_end\n\t.hidden quipu_watch_return\n"
                     "\t.hidden quipu_watch_call_begin\n\t.hidden quipu_watch_call_end\n"
                     "\t.hidden quipu_watch_call_return\n\t.hidden quipu_watch_callees\n"
                     "\t.hidden quipu_watch_text\n\t.hidden quipu_watch_function_begin\n"
                     "\t.hidden quipu_watch_function_end\n\t.hidden quipu_watch_function_back\n"
                     "\t.hidden quipu_watch_loop_first\n\t.hidden quipu_watch_loop_left\n");
    if (!shared)
        buffer_text(out, "\t.hidden quipu_watch_early\n");
}

void write_site(struct buffer *out, uint32_t label) {
    buffer_print(out, ".p2align 6,,%d; .LQa%u: " SITE_TEXT "; .LQq%u:", SITE_SIZE - 1, label,
                 label);
}
