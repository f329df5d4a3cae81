/* loop_check.c: the choice between a loop with checks and its copy; see loop_check.h. */
#include "x86/loop_check.h"

#include "format/watch.h"

/* Code that makes the thread's loop word reachable by word_operand. */
static void write_way_to_word(struct buffer *out, bool shared) {
    if (shared)
        buffer_text(out, "movq quipu_watch_loop@gottpoff(%rip), %r11; ");
}

static const char *word_operand(bool shared) {
    return shared ? "%fs:(%r11)" : "%fs:quipu_watch_loop@tpoff";
}

void write_loop_symbols(struct buffer *out) {
    buffer_text(out, "\t.hidden quipu_watch_loop\n\t.type quipu_watch_loop, @tls_object\n");
}

void write_loop_choice(struct buffer *out, const struct loop_text *loop, bool asks_where) {
    const char *word = word_operand(loop->shared);
    buffer_print(out, ".LQlp%u: ", loop->label);
    write_way_to_word(out, loop->shared);
    buffer_print(
        out, "cmpq $%d, %s; jne .LQls%u; .LQlt%u: movq %%rsp, %s; cmpb $0, 0x%x; je .LQlu%u; ",
        QUIPU_LOOP_FREE, word, loop->label, loop->label, word, QUIPU_WATCH_AREA, loop->label);
    if (asks_where)
        buffer_print(out, "jmp .LQla%u", loop->label);
    else
        buffer_print(out, "movq $%d, %s", QUIPU_LOOP_FREE, word);
}

void write_loop_refusal(struct buffer *out, const struct loop_text *loop) {
    const char *word = word_operand(loop->shared);
    buffer_print(out, "; .LQls%u: cmpq %%rsp, %s; je .LQlt%u; cmpq $%d, %s; jne .LQlc%u_%u; ",
                 loop->label, word, loop->label, QUIPU_LOOP_UNKNOWN, word, loop->label, loop->head);
    write_runtime_call(out, &loop->frame, "quipu_watch_loop_first");
    buffer_print(out, "; jmp .LQlp%u", loop->label);
}

void write_loop_release(struct buffer *out, bool shared) {
    write_way_to_word(out, shared);
    buffer_print(out, "movq $%d, %s", QUIPU_LOOP_FREE, word_operand(shared));
}

void write_loop_jump(struct buffer *out, const struct loop_text *loop, struct span mnemonic,
                     uint32_t jump, uint32_t target) {
    buffer_print(out, ".p2align 6,,5; {disp32} %.*s .LQlb%u_%u; .LQlj%u_%u:; ",
                 (int)mnemonic.length, mnemonic.start, loop->label, target, loop->label, jump);
}

void write_loop_row(struct buffer *out, const struct loop_text *loop, uint32_t jump,
                    uint32_t target) {
    buffer_print(out, "\t.long .LQlj%u_%u-4-., .LQlo%u_%u-., .LQlb%u_%u-., 0x%x\n", loop->label,
                 jump, loop->label, jump, loop->label, target, QUIPU_SITE_LOOP);
}

void write_loop_way_out(struct buffer *out, const struct loop_text *loop, uint32_t jump,
                        uint32_t target) {
    buffer_print(out, "; .LQlo%u_%u: ", loop->label, jump);
    write_loop_release(out, loop->shared);
    buffer_text(out, "; ");
    write_runtime_call(out, &loop->frame, "quipu_watch_loop_left");
    buffer_print(out, "; jmp .LQlc%u_%u", loop->label, target);
}
