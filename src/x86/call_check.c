/* call_check.c: the instructions around a call of what may not be instrumented; see call_check.h.
 *
 * .LQf:   nopl                                 a jump to .LQq, once there is a region, or to .LQz,
 *                                              where the stack is watched
 * .LQm:   call    CALLEE
 *         nopl                                 a jump to .LQr
 * .LQo:
 *
 * .LQz:   ...                                  the store of the return address: store_check.c
 *         jmp     .LQq
 * .LQq:   cmpb    $0, QUIPU_WATCH_HOME         is there any region?
 *         je      .LQm
 *         ...                                  the callee is told
 *         jmp     .LQm
 * .LQr:   cmpl    $0, QUIPU_WATCH_CALLING      is any thread in a call that it has told of?
 *         je      .LQo
 *         ...
 *
 * Of some callees another byte is asked.  Behind a direct call of an unknown one QUIPU_WATCH_HOME
 * is, and .LQr stands in front of .LQq; data/watch_format.h.  The call itself stays where it is,
 * for what tables of exceptions say of it.
 *
 * Out of line the callee's address tells whether it is instrumented: then all it writes is told by
 * its own checks.  Of a call through a pointer this comes first: most are of functions of the
 * program's own. */
#include "x86/call_check.h"

#include "data/watch_format.h"
#include "x86/store_check.h"

void write_call_check(struct buffer *out, const struct checked_call *call, bool returns,
                      uint32_t label) {
    if (!call->site) {
        buffer_print(out, "cmpb $0, 0x%x; {disp32} jne .LQcl%u; .LQcm%u:", call->question, label,
                     label);
        return;
    }
    buffer_print(out, ".p2align 6,,%d; .LQcf%u: " SITE_TEXT "; ", SITE_SIZE - 1, label);
    if (returns) /* the one behind it follows at once, and is within a line, too */
        buffer_print(out, ".p2align 6,,%d; ", call->size + SITE_SIZE - 1);
    buffer_print(out, ".LQcm%u:", label);
}

static void write_return_question(struct buffer *out, const struct checked_call *call,
                                  uint32_t label) {
    if (call->compared)
        buffer_print(out, "cmpb $0, 0x%x", QUIPU_WATCH_HOME);
    else
        buffer_print(out, "cmpl $0, 0x%x", QUIPU_WATCH_CALLING);
    buffer_print(out, "; {disp32} jne .LQcn%u; ", label);
}

void write_return_check(struct buffer *out, const struct checked_call *call, uint32_t label) {
    if (call->site)
        buffer_print(out, ".LQy%u: " SITE_TEXT "; ", label);
    else
        write_return_question(out, call, label);
    buffer_print(out, ".LQco%u:", label);
}

void write_call_row(struct buffer *out, const struct checked_call *call, bool returns,
                    uint32_t label) {
    buffer_print(out, "\t.long .LQcf%u-., .LQcq%u-., ", label, label);
    if (returns)
        buffer_print(out, ".LQco%u-.", label);
    else
        buffer_text(out, "0");
    buffer_print(out, ", 0x%x\n", call->site);
}

void write_call_store_row(struct buffer *out, uint32_t label) {
    buffer_print(out, "\t.long .LQcf%u-., .LQcz%u-., 0, 0\n", label, label);
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

/* What the no-operation in front leads to, but the telling.  What that behind a compared call leads
 * to has QUIPU_SITE_RETURN_SIZE bytes. */
static void write_questions(struct buffer *out, const struct checked_call *call, bool returns,
                            uint32_t label) {
    bool own_first = call->site && !call->symbol.length;
    if (call->site && returns) {
        buffer_print(out, ".LQcz%u: ", label);
        write_call_store(out, label, &call->frame);
    }
    if (call->compared) {
        buffer_print(out, "jmp .LQcq%u; ", label);
        write_return_question(out, call, label);
        buffer_print(out, "{disp32} jmp .LQco%u; ", label);
    }
    if (call->site)
        buffer_print(out, ".LQcq%u: ", label);
    if (own_first)
        write_own_test(out, call, ".LQcm", label);
    if (call->site)
        buffer_print(out, "cmpb $0, 0x%x; je .LQcm%u; ", call->question, label);
    if (!own_first)
        write_own_test(out, call, ".LQcm", label);
}

/* RETURNS: by the no-operation behind the call, if it has one, which the runtime sees to. */
static void write_begin(struct buffer *out, const struct checked_call *call, bool returns) {
    bool sees = returns && call->site && !call->compared;
    buffer_print(out, "pushq $%u", QUIPU_CALL(call->callee, sees ? call->size : 0u));
    write_adjust(out, &call->frame, 8);
    buffer_print(out, "; call quipu_watch_call_%s; leaq 8(%%rsp), %%rsp",
                 call->ranged ? "range" : "begin");
    write_adjust(out, &call->frame, -8);
    buffer_text(out, "; ");
}

void write_call_stubs(struct buffer *out, const struct checked_call *call, uint32_t label) {
    buffer_print(out, ".LQcl%u: ", label);
    write_frame(out, &call->frame, 0);
    write_questions(out, call, true, label);
    write_begin(out, call, true);
    buffer_print(out, "jmp .LQcm%u; ", label);
    if (call->site && !call->compared)
        buffer_print(out, "cmpl $0, 0x%x; je .LQco%u; ", QUIPU_WATCH_CALLING, label);
    buffer_print(out, ".LQcn%u: ", label);
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
    write_call_check(before, &call, true, label);
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
    write_questions(out, call, false, label);
    buffer_text(out, "leaq -8(%rsp), %rsp");
    write_adjust(out, &call->frame, 8);
    buffer_text(out, "; ");
    write_begin(out, call, false);
    struct span callee = call->symbol.length ? call->symbol : call->operand;
    buffer_print(out, "call %s%.*s; call quipu_watch_call_end; leaq 8(%%rsp), %%rsp",
                 call->symbol.length ? "" : "*", (int)callee.length, callee.start);
    write_adjust(out, &call->frame, -8);
    buffer_print(out, "; ret; jmp .LQcm%u", label);
    write_frame_end(out, &call->frame);
}
