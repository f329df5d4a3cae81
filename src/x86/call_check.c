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
 * .LQq:   cmpb    $0, QUIPU_WATCH_AREA         is there any region?
 *         je      .LQm
 *         ...                                  the callee is told
 *         jmp     .LQm
 * .LQr:   cmpl    $0, QUIPU_WATCH_CALLING      is any thread in a call that it has told of?
 *         je      .LQo
 *         ...
 *
 * Of some callees another byte is asked.  Behind a direct call of an unknown one QUIPU_WATCH_AREA
 * is, and .LQr stands in front of .LQq; format/watch.h.  The call itself stays where it is,
 * for what tables of exceptions say of it.
 *
 * Out of line the callee's address tells whether it is instrumented: then all it writes is told by
 * its own checks.  Of a call through a pointer the text asks that, in three instructions, which two
 * jumps would cost more than: most are of functions of the program's own.
 *
 * What is known to write a range asks first, whatever the callee, whether all that is watched lies
 * elsewhere. */
#include "x86/call_check.h"

#include "format/watch.h"
#include "format/watch_callees.h"
#include "x86/store_check.h"

/* ---- whose the callee is ---- */

/* The callee's address to %r11, compared with what RANGE is the name of: address and size. */
static void write_comparison(struct buffer *out, const struct checked_call *call,
                             const char *range) {
    if (call->symbol.length)
        buffer_print(out, "movq %.*s@GOTPCREL(%%rip), %%r11", (int)call->symbol.length,
                     call->symbol.start);
    else
        buffer_print(out, "movq %.*s, %%r11", (int)call->operand.length, call->operand.start);
    buffer_print(out, "; subq %s(%%rip), %%r11; cmpq %s+8(%%rip), %%r11; ", range, range);
}

/* Goes to the label BACK LABEL where the callee is this module's own. */
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
    if (returns) /* the one behind it follows at once, and is within a line, too */
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

/* Where the range ends at most, to %r11.  Goes to .LQcs LABEL where that is behind all addresses.
 */
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

/* Goes to .LQcs LABEL where the format may have a conversion that writes. */
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

/* Goes to the label .LQcm LABEL where no range can reach what is watched. */
static void write_quick_ranges(struct buffer *out, const struct checked_call *call,
                               uint32_t label) {
    buffer_print(out, "cmpb $0, 0x%x; jne .LQcs%u; ", QUIPU_WATCH_RANGES_BEGIN, label);
    if (call->looks)
        write_look_at_format(out, call, label);
    if (call->within) /* all is compared; where that takes long it is told, too */
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

/* What the no-operation in front leads to, but the telling.  What that behind a compared call leads
 * to has QUIPU_SITE_RETURN_SIZE bytes. */
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

static void write_telling(struct buffer *out, const struct checked_call *call, uint32_t told) {
    buffer_print(out, "pushq $%u", told);
    write_adjust(out, &call->frame, 8);
    buffer_text(out, "; call quipu_watch_call_begin; leaq 8(%rsp), %rsp");
    write_adjust(out, &call->frame, -8);
    buffer_text(out, "; ");
}

/* RETURNS: by the no-operation behind the call, if it has one, which the runtime sees to. */
static void write_begin(struct buffer *out, const struct checked_call *call, bool returns) {
    bool sees = returns && call->site && !call->compared;
    write_telling(out, call,
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
    write_telling(out, call, QUIPU_CALL(0, call->size) | QUIPU_CALL_LEAVES);
    buffer_print(out, "jmp .LQcm%u", label);
    write_frame_end(out, &call->frame);
}
