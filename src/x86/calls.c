/* calls.c: the instructions that keep a calling context tree; see calls.h.
 *
 * Each calls the runtime (runtime/calls/activation.S). Only before a return it jumps to the
 * runtime, which then returns to the caller. The program's own return stays behind that jump, and
 * is never executed.
 *
 * Nothing below the stack pointer is in use at a function's begin and ends. The code there may
 * change the registers that the calling convention leaves free. So the compiler must follow the
 * convention even between functions that it knows (-fno-ipa-ra). */
#include "x86/calls.h"

#include <Zydis/Zydis.h>

void write_enter(struct buffer *out, bool rax_free, bool shared) {
    const char *variant = !rax_free ? "_keeping" : shared ? "" : "_segment";
    buffer_print(out, "call quipu_calls_enter%s", variant);
}

bool is_near_return(const struct decoded *decoded) {
    return decoded->spelling.mnemonic == ZYDIS_MNEMONIC_RET && decoded->size < 3;
}

void write_return(struct buffer *out, bool shared) {
    buffer_print(out, "jmp quipu_calls_return%s", shared ? "" : "_segment");
}

void write_leave(struct buffer *out, bool r11_kept, bool shared) {
    buffer_print(out, "call quipu_calls_leave%s", r11_kept ? "_keeping" : shared ? "" : "_segment");
}

void write_pad(struct buffer *out, const struct frame_row *frame) {
    write_runtime_call(out, frame, "quipu_calls_pad");
}

void write_returned(struct buffer *out, const struct code_context *context,
                    const struct frame_row *frame, bool shared) {
    uint32_t label = ++*context->labels;
    const char *jump = stub_jump(context);
    if (shared)
        buffer_print(out,
                     "movq quipu_calls_words@gottpoff(%%rip), %%r11; movq %%fs:(%%r11), %%r11; "
                     "testq %%r11, %%r11; %sje .LQs%u; movq (%%r11), %%r11; ",
                     jump, label);
    else
        buffer_text(out, "movq %fs:quipu_calls_segment_words@tpoff, %r11; ");
    buffer_print(out,
                 "testq %%r11, %%r11; %sje .LQs%u; cmpq %%rsp, (%%r11); %sjb .LQs%u; .LQr%u:", jump,
                 label, jump, label, label);
    write_stub(context, label, "call quipu_calls_pad", "jmp",
               &(struct load_place){.frame = *frame});
}

void write_arrival(struct buffer *out, const struct frame_row *frame) {
    write_stack_move(out, frame, -RED_ZONE);
    write_push(out, frame, "pushfq");
    buffer_text(out, "call quipu_calls_pad; ");
    write_pop(out, frame, "popfq");
    write_last_move(out, frame, RED_ZONE);
}

void write_calls_symbols(struct buffer *out, bool shared) {
    static const char *const names[] = {"enter",         "enter_keeping",  "return",
                                        "leave",         "leave_keeping",  "pad",
                                        "enter_segment", "return_segment", "leave_segment"};
    static const size_t count = sizeof names / sizeof *names, of_executables = 3;
    const char *words = shared ? "quipu_calls_words" : "quipu_calls_segment_words";
    for (size_t i = 0; i < count - (shared ? of_executables : 0); i++)
        buffer_print(out, "\t.hidden quipu_calls_%s\n", names[i]);
    buffer_print(out, "\t.hidden %s\n\t.type %s, @tls_object\n", words, words);
}
