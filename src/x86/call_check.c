/* call_check.c: the instructions around a call of what may not be instrumented; see call_check.h.
 *
 *         cmpb    $0, QUIPU_WATCH_HOME         is there any region?
 *         jne     .LQl
 * .LQm:   call    CALLEE
 *         cmpl    $0, QUIPU_WATCH_CALLING      is any thread in a call that it has told of?
 *         jne     .LQn
 * .LQo:
 *
 * Of some callees another byte is asked, and behind a direct call of an unknown one
 * QUIPU_WATCH_HOME is; data/watch_format.h.
 *
 * Out of line the callee's address tells whether it is instrumented: then all it writes is told by
 * its own checks. */
#include "x86/call_check.h"

#include "data/watch_format.h"

void write_call_check(struct buffer *out, const struct checked_call *call, uint32_t label) {
    buffer_print(out, "cmpb $0, 0x%x; {disp32} jne .LQcl%u; .LQcm%u:", call->question, label,
                 label);
}

void write_return_check(struct buffer *out, const struct checked_call *call, uint32_t label) {
    if (call->compared)
        buffer_print(out, "cmpb $0, 0x%x", QUIPU_WATCH_HOME);
    else
        buffer_print(out, "cmpl $0, 0x%x", QUIPU_WATCH_CALLING);
    buffer_print(out, "; {disp32} jne .LQcn%u; .LQco%u:", label, label);
}

void write_call_row(struct buffer *out, uint32_t label) {
    buffer_print(out, "\t.long .LQcm%u-., .LQco%u-., 0, 0x%x\n", label, label, QUIPU_SITE_CALL);
}

/* Goes to the label BACK LABEL where the callee is this module's own. */
static void write_own_test(struct buffer *out, const struct checked_call *call, const char *back,
                           uint32_t label) {
    if (!call->register_free || (!call->symbol.length && !call->operand.length))
        return;
    if (call->symbol.length)
        buffer_print(out, "movq %.*s@GOTPCREL(%%rip), %%r11", (int)call->symbol.length,
                     call->symbol.start);
    else
        buffer_print(out, "movq %.*s, %%r11", (int)call->operand.length, call->operand.start);
    buffer_print(out,
                 "; subq quipu_watch_text(%%rip), %%r11; cmpq quipu_watch_text+8(%%rip), %%r11; "
                 "jb %s%u; ",
                 back, label);
}

static void write_begin(struct buffer *out, const struct checked_call *call) {
    buffer_print(out, "pushq $%u", call->callee);
    write_adjust(out, &call->frame, 8);
    buffer_print(out, "; call quipu_watch_call_%s; leaq 8(%%rsp), %%rsp",
                 call->ranged ? "range" : "begin");
    write_adjust(out, &call->frame, -8);
    buffer_text(out, "; ");
}

void write_call_stubs(struct buffer *out, const struct checked_call *call, uint32_t label) {
    buffer_print(out, ".LQcl%u: ", label);
    write_frame(out, &call->frame, 0);
    write_own_test(out, call, ".LQcm", label);
    write_begin(out, call);
    buffer_print(out, "jmp .LQcm%u; .LQcn%u: ", label, label);
    if (call->compared)
        write_own_test(out, call, ".LQco", label);
    buffer_print(out, "call quipu_watch_call_%s; jmp .LQco%u", call->compared ? "return" : "end",
                 label);
    write_frame_end(out, &call->frame);
}

enum {
    SYSTEM_ROOM = 128 + 8 /* the red zone, and the flags */
};

static void write_kept(struct buffer *out, const struct frame_row *frame, bool begin) {
    buffer_text(out, begin ? "leaq -128(%rsp), %rsp; pushfq" : "; popfq; leaq 128(%rsp), %rsp");
    write_adjust(out, frame, begin ? SYSTEM_ROOM : -SYSTEM_ROOM);
    if (begin)
        buffer_text(out, "; ");
}

void write_system_checks(struct buffer *before, struct buffer *behind,
                         const struct frame_row *frame, uint32_t label) {
    const struct checked_call call = {.question = QUIPU_WATCH_HOME};
    write_kept(before, frame, true);
    write_call_check(before, &call, label);
    write_kept(before, frame, false);
    write_kept(behind, frame, true);
    write_return_check(behind, &call, label);
    write_kept(behind, frame, false);
}

void write_system_stubs(struct buffer *out, const struct frame_row *frame, uint32_t label) {
    struct checked_call call = {.frame = *frame};
    call.frame.offset += frame->by_rsp ? SYSTEM_ROOM : 0;
    write_call_stubs(out, &call, label);
}

void write_tail_stub(struct buffer *out, const struct checked_call *call, uint32_t label) {
    buffer_print(out, ".LQcl%u: ", label);
    write_frame(out, &call->frame, 0);
    write_own_test(out, call, ".LQcm", label);
    buffer_text(out, "leaq -8(%rsp), %rsp");
    write_adjust(out, &call->frame, 8);
    buffer_text(out, "; ");
    write_begin(out, call);
    struct span callee = call->symbol.length ? call->symbol : call->operand;
    buffer_print(out, "call %s%.*s; call quipu_watch_call_end; leaq 8(%%rsp), %%rsp",
                 call->symbol.length ? "" : "*", (int)callee.length, callee.start);
    write_adjust(out, &call->frame, -8);
    buffer_print(out, "; ret; jmp .LQcm%u", label);
    write_frame_end(out, &call->frame);
}
