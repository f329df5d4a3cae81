/* call_check.c: the instructions around a call of code that may have no checks; see call_check.h.
 *
 *   .LQcf:  nopl                                 becomes a jump to .LQcq once there is a region, or
 *                                                to .LQcz while the stack is watched
 *   .LQcm:  call    CALLEE
 *   .LQy:   nopl                                 becomes a jump to 1
 *   .LQco:
 *
 *   .LQcz:  ...                                  stores the return address: store_check.c
 *           jmp     .LQcq
 *   .LQcq:  cmpb    $0, QUIPU_WATCH_AREA         is there any region?
 *           je      .LQcm
 *           ...                                  reports the begin
 *           jmp     .LQcm
 *      1:   cmpl    $0, QUIPU_WATCH_CALLING      has any thread a record of a running call?
 *           je      .LQco
 *           ...
 *
 * For some callees, the code tests other bytes. Behind a direct call of an unknown callee it tests
 * QUIPU_WATCH_AREA, and 1 is before .LQcq; see format/watch.h. The call itself stays at its
 * address, since exception tables refer to it.
 *
 * Out of line, the code compares the callee's address with this module's text. The module's own
 * functions have checks, which report all that they write. For a call through a pointer, three
 * instructions in the text do this. That costs less than two jumps, because most such calls are of
 * the program's own functions.
 *
 * If a callee is known to write ranges, the code first tests whether all regions are outside of
 * them. This test does not depend on the callee's address. */
#include "x86/call_check.h"

#include "format/watch.h"
#include "format/watch_callees.h"
#include "x86/store_check.h"

/* ---- whether the callee has checks ---- */

/* Subtracts the begin of RANGE from the callee's address, in %r11, and compares the difference with
 * its size. RANGE names two words: address and size. */
static void write_comparison(struct buffer *out, const struct checked_call *call,
                             const char *range) {
    if (call->symbol.length)
        buffer_print(out, "movq %.*s@GOTPCREL(%%rip), %%r11", (int)call->symbol.length,
                     call->symbol.start);
    else
        buffer_print(out, "movq %.*s, %%r11", (int)call->operand.length, call->operand.start);
    buffer_print(out, "; subq %s(%%rip), %%r11; cmpq %s+8(%%rip), %%r11; ", range, range);
}

/* Jumps to the label BACK LABEL if the callee is in this module. */
static void write_own_test(struct buffer *out, const struct checked_call *call, const char *back,
                           uint32_t label) {
    if (!call->register_free || (!call->symbol.length && !call->operand.length))
        return;
    write_comparison(out, call, "quipu_watch_text");
    buffer_print(out, "jb %s%u; ", back, label);
}

/* ---- in the text ---- */

void write_call_check(struct buffer *out, const struct checked_call *call, bool returns,
                      uint32_t label) {
    if (!call->site) {
        buffer_print(out, "cmpb $0, 0x%x; {disp32} jne .LQcl%u; .LQcm%u:", call->question, label,
                     label);
        return;
    }
    if (call->indirect) {
        buffer_print(out, ".LQcf%u: ", label);
        write_comparison(out, call, "quipu_watch_callees");
        buffer_print(out, LONG_JUMP_PREFIX "jae .LQcl%u; ", label);
    } else {
        buffer_print(out, ".p2align 6,,%d; .LQcf%u: " SITE_TEXT "; ", SITE_SIZE - 1, label);
    }
    if (returns) /* so the one behind the call, which follows directly, is within a line, too */
        buffer_print(out, ".p2align 6,,%d; ", call->size + SITE_SIZE - 1);
    buffer_print(out, ".LQcm%u:", label);
}

static void write_return_question(struct buffer *out, const struct checked_call *call,
                                  uint32_t label) {
    if (call->compared)
        buffer_print(out, "cmpb $0, 0x%x", call->behind);
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

/* ---- rows ---- */

void write_call_row(struct buffer *out, const struct checked_call *call, bool returns,
                    uint32_t label) {
    buffer_print(out, "\t.long .LQcf%u-., .LQcq%u-., ", label, label);
    if (returns)
        buffer_print(out, ".LQco%u-.", label);
    else
        buffer_text(out, "0");
    buffer_print(out, ", 0x%x\n", call->site);
}

void write_call_store_row(struct buffer *out, const struct checked_call *call, const char *function,
                          uint32_t label) {
    buffer_print(out, "\t.long .LQcf%u-., ", label);
    if (call->indirect)
        buffer_text(out, "0");
    else
        buffer_print(out, ".LQcz%u-.", label);
    buffer_print(out, ", %s-., 0x%x\n", function, QUIPU_SITE_FRAME_CALL);
}

/* ---- out of line ---- */

static const char *argument(uint32_t number) {
    static const char *const names[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
    return names[number];
}

static const char *narrow_argument(uint32_t number) {
    static const char *const names[] = {"edi", "esi", "edx", "ecx", "r8d", "r9d"};
    return names[number];
}

/* Sets %r11 to the largest possible end of the range. Jumps to .LQcs LABEL if that is beyond all
 * addresses. */
static void write_range_end(struct buffer *out, uint32_t extent, uint32_t label) {
    const char *a = argument(quipu_extent_a(extent));
    unsigned long long reach = quipu_reach(extent);
    switch (quipu_extent_kind(extent)) {
    case QUIPU_EXTENT_BYTES:
        buffer_print(out, "movq %%%s, %%r11; ", a);
        break;
    case QUIPU_EXTENT_PRODUCT:
        buffer_print(out, "movq %%%s, %%r11; imulq %%%s, %%r11; jo .LQcs%u; ", a,
                     argument(quipu_extent_b(extent)), label);
        break;
    case QUIPU_EXTENT_TIMES:
        buffer_print(out, "movl %%%s, %%r11d; imulq $%u, %%r11; ",
                     narrow_argument(quipu_extent_a(extent)), quipu_extent_constant(extent));
        break;
    default:
        reach = reach ? reach : quipu_extent_constant(extent);
        buffer_print(out, reach >> 32 ? "movabsq $0x%llx, %%r11; " : "movl $0x%llx, %%r11d; ",
                     reach);
    }
    buffer_print(out, "addq %%%s, %%r11; jc .LQcs%u; ", argument(extent & 7), label);
}

/* Jumps to .LQcs LABEL if the format may have a conversion that writes. */
static void write_look_at_format(struct buffer *out, const struct checked_call *call,
                                 uint32_t label) {
    for (int i = 0; i < 3; i++)
        if (quipu_is_condition(call->quick[i]))
            buffer_print(out,
                         "movq %%%s, %%r11; testq %%r11, %%r11; je .LQcs%u; "
                         ".LQck%u: cmpb $'n', (%%r11); je .LQcs%u; "
                         "incq %%r11; cmpb $0, -1(%%r11); jne .LQck%u; ",
                         argument(call->quick[i] & 7), label, label, label, label);
}

/* Jumps to .LQcm LABEL if no range can reach a region. */
static void write_quick_ranges(struct buffer *out, const struct checked_call *call,
                               uint32_t label) {
    buffer_print(out, "cmpb $0, 0x%x; jne .LQcs%u; ", QUIPU_WATCH_RANGES_BEGIN, label);
    if (call->looks)
        write_look_at_format(out, call, label);
    if (call->within) /* if all regions will be compared, the begin is reported only while that
                         takes long */
        buffer_print(out,
                     "cmpb $0, 0x%x; je .LQcv%u; cmpb $0, 0x%x; je .LQcm%u; jmp .LQcs%u; "
                     ".LQcv%u: ",
                     QUIPU_WATCH_LIBRARY, label, QUIPU_WATCH_WITHIN_BEGINS, label, label, label);
    for (int i = 0; i < 3 && quipu_is_range(call->quick[i]); i++) {
        bool last = i == 2 || !quipu_is_range(call->quick[i + 1]);
        const char *pointer = argument(call->quick[i] & 7);
        if (call->quick[i] & QUIPU_EXTENT_WITHIN && !call->within)
            buffer_print(out, "cmpb $0, 0x%x; jne .LQcs%u; ", QUIPU_WATCH_LIBRARY, label);
        write_range_end(out, call->quick[i], label);
        buffer_print(out, "cmpq %%r11, 0x%x; jae ", QUIPU_WATCH_LOWEST);
        buffer_print(out, last ? ".LQcm%u; " : ".LQcs%u_%d; ", label, i);
        buffer_print(out, "cmpq %%%s, 0x%x; ", pointer, QUIPU_WATCH_HIGHEST);
        if (last)
            buffer_print(out, "jbe .LQcm%u; ", label);
        else
            buffer_print(out, "ja .LQcs%u; .LQcs%u_%d: ", label, label, i);
    }
    buffer_print(out, ".LQcs%u: ", label);
}

/* The code to which the no-operation before the call leads, except the report. For a `compared`
 * call, the query behind the call precedes .LQcq and has QUIPU_SITE_RETURN_SIZE bytes. */
static void write_questions(struct buffer *out, const struct checked_call *call, bool returns,
                            uint32_t label) {
    if (call->site && returns) {
        buffer_print(out, ".LQcz%u: ", label);
        write_below_stack_pointer(out, ".LQcq", label);
        write_call_store(out, label, &call->frame);
    }
    if (call->compared) {
        buffer_print(out, "jmp .LQcq%u; ", label);
        write_return_question(out, call, label);
        buffer_print(out, "{disp32} jmp .LQc%c%u; ", call->within ? 'w' : 'o', label);
    }
    if (call->site)
        buffer_print(out, ".LQcq%u: ", label);
    if (call->quick)
        write_quick_ranges(out, call, label);
    if (call->site)
        buffer_print(out, "cmpb $0, 0x%x; je .LQcm%u; ", call->question, label);
    write_own_test(out, call, ".LQcm", label);
}

static void write_descriptor(struct buffer *out, const struct checked_call *call,
                             uint32_t descriptor) {
    buffer_print(out, "pushq $%u", descriptor);
    write_adjust(out, &call->frame, 8);
    buffer_text(out, "; call quipu_watch_call_begin; leaq 8(%rsp), %rsp");
    write_adjust(out, &call->frame, -8);
    buffer_text(out, "; ");
}

/* RETURNS: control returns to behind the call. If the no-operation there must become a jump, the
 * runtime changes it. */
static void write_begin(struct buffer *out, const struct checked_call *call, bool returns) {
    bool sees = returns && call->site && !call->compared;
    write_descriptor(
        out, call,
        QUIPU_CALL(call->callee | (call->looks ? QUIPU_CALLEE_LOOKS : 0),
                   returns ? call->size : 0u) |
            (sees ? QUIPU_CALL_LEADS : 0) |
            ((returns ? call->compared : call->begins != 0) ? QUIPU_CALL_COMPARED : 0));
}

void write_call_stubs(struct buffer *out, const struct checked_call *call, uint32_t label) {
    buffer_print(out, ".LQcl%u: ", label);
    write_frame(out, &call->frame, 0);
    write_questions(out, call, true, label);
    write_begin(out, call, true);
    buffer_print(out, "jmp .LQcm%u; ", label);
    if (call->within)
        buffer_print(out, ".LQcw%u: ", label);
    if (call->site && (call->within || !call->compared))
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
    if (begin) {
        write_stack_move(out, frame, -(SYSTEM_ROOM - 8));
        write_push(out, frame, "pushfq");
    } else {
        buffer_text(out, "; ");
        write_pop(out, frame, "popfq");
        write_last_move(out, frame, SYSTEM_ROOM - 8);
    }
}

void write_system_checks(struct buffer *before, struct buffer *behind,
                         const struct frame_row *frame, uint32_t label) {
    const struct checked_call call = {.question = QUIPU_WATCH_AREA};
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
    if (call->begins)
        buffer_print(out, "cmpb $0, 0x%x; je .LQcb%u; ", call->begins, label);
    write_begin(out, call, false);
    if (call->begins)
        buffer_print(out, ".LQcb%u: ", label);
    struct span callee = call->symbol.length ? call->symbol : call->operand;
    buffer_print(out, "call %s%.*s; call quipu_watch_call_%s; leaq 8(%%rsp), %%rsp",
                 call->symbol.length ? "" : "*", (int)callee.length, callee.start,
                 call->begins ? "return" : "end");
    write_adjust(out, &call->frame, -8);
    buffer_print(out, "; ret; jmp .LQcm%u", label);
    write_frame_end(out, &call->frame);
}

void write_leaving_stub(struct buffer *out, const struct checked_call *call, uint32_t label) {
    buffer_print(out, ".LQcl%u: ", label);
    write_frame(out, &call->frame, 0);
    write_questions(out, call, false, label);
    write_descriptor(out, call, QUIPU_CALL(0, call->size) | QUIPU_CALL_LEAVES);
    buffer_print(out, "jmp .LQcm%u", label);
    write_frame_end(out, &call->frame);
}
