/* frame_check.c: reports where functions begin and end, for watched locals; see frame_check.h.
 *
 * Nothing below the stack pointer is in use at a function's begin and ends. So only FRAME_BACK
 * moves the stack pointer below the red zone. */
#include "x86/frame_check.h"

#include "format/watch.h"

static void write_begin(struct buffer *out, const char *function, uint32_t label,
                        const struct frame_row *frame) {
    buffer_print(out, "pushq $.LQzb%u-%s", label, function);
    write_adjust(out, frame, 8);
    buffer_print(out, "; call quipu_watch_function_begin; .LQzb%u: leaq 8(%%rsp), %%rsp", label);
    write_adjust(out, frame, -8);
}

static void write_back(struct buffer *out, const struct frame_row *frame) {
    write_runtime_call(out, frame, "quipu_watch_function_back");
}

void write_frame_stub(struct buffer *out, enum frame_site site, const char *function,
                      uint32_t label, bool shared, const struct frame_row *frame) {
    if (site == FRAME_BEGIN)
        write_begin(out, function, label, frame);
    else if (site == FRAME_END)
        buffer_text(out, "call quipu_watch_function_end");
    else
        write_back(out, frame);
    buffer_print(out, "; jmp .LQ%c%u", shared ? 'z' : 'q', label);
}

void write_frame_row(struct buffer *out, enum frame_site site, const char *function, uint32_t label,
                     bool shared) {
    static const uint32_t kinds[] = {QUIPU_SITE_BEGIN, QUIPU_SITE_END, QUIPU_SITE_BACK};
    buffer_print(out, "\t.long .LQa%u-., .LQz%s%u-., %s-., 0x%x\n", label, shared ? "f" : "", label,
                 function, kinds[site]);
}

void write_code_row(struct buffer *out, uint32_t function, size_t fragment, bool is_main) {
    buffer_print(out, "\t.long .LQf%u_%zu-., .LQ%c%u_%zu-., .LQh%u_%zu-., 0x%x\n", function,
                 fragment, is_main ? 'h' : 'f', function, fragment, function, fragment,
                 QUIPU_SITE_CODE);
}
