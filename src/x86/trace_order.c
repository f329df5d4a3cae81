/* trace_order.c: inserted code that takes tickets; see trace_order.h.
 *
 * The sites in front of calls of known functions are here, too.
 *
 * A site costs a load, a test and a branch while its thread is alone. Where no register is free, or
 * flags are live, it calls the runtime without this test. The runtime keeps all registers and
 * flags.
 *
 * Not perfect: a load that is atomic only by its size and alignment, and such a store, look as any
 * other. So what they order is not known. */
#include "x86/trace_order.h"

#include "format/trace.h"

#include <stdio.h>

unsigned ticket_sides_of(const struct decoded *decoded) {
    if (decoded->atomic || decoded->class == CLASS_SYSTEM)
        return TICKET_IN_FRONT | TICKET_BEHIND;
    return is_fence(decoded) ? TICKET_BEHIND : 0;
}

static int find_base(uint16_t free) {
    for (int i = 0; i < BASE_CANDIDATES; i++)
        if (free >> base_candidates[i] & 1)
            return base_candidates[i];
    return -1;
}

void write_measure_site(struct buffer *out, uint32_t label, uint32_t row, bool jumps) {
    row |= jumps ? QUIPU_TRACE_JUMPS : 0;
    buffer_print(out,
                 "nopl 0(%%rax,%%rax); call quipu_trace_measure; .LQo%u: .byte 0x0f,0x1f,0x84,0; "
                 ".long %u",
                 label, row);
}

void write_system_call_site(struct buffer *out, uint32_t label, const struct frame_row *frame) {
    write_stack_move(out, frame, -RED_ZONE);
    write_measure_site(out, label, QUIPU_TRACE_SYSTEM_CALL, false);
    buffer_text(out, "; ");
    write_last_move(out, frame, RED_ZONE);
}

void write_order_site(struct buffer *out, const struct code_context *context,
                      const struct order_code *code, const struct clobbers *clobbers) {
    enum {
        CALL_SIZE = 64
    };
    char call[CALL_SIZE];
    snprintf(call, sizeof call, "call quipu_trace_order; .LQo%u:", code->label);
    int base = find_base(clobbers->free);
    if (code->always || !clobbers->flags_free || base < 0) {
        write_stack_move(out, &clobbers->frame, -RED_ZONE);
        buffer_print(out, "%s ", call);
        write_last_move(out, &clobbers->frame, RED_ZONE);
        return;
    }
    uint32_t label = ++*context->labels;
    const char *name = register_name(base);
    if (code->shared)
        buffer_print(out, "movq quipu_trace@gottpoff(%%rip), %%%s; movq %%fs:(%%%s), %%%s; ", name,
                     name, name);
    else
        buffer_print(out, "movq %%fs:quipu_trace@tpoff, %%%s; ", name);
    buffer_print(out, "testb $1, %d(%%%s); %sjnz .LQs%u; .LQr%u:", QUIPU_TRACE_ORDERED, name,
                 stub_jump(context), label, label);
    write_stub(context, label, call, "jmp", &(struct load_place){.frame = clobbers->frame});
}
