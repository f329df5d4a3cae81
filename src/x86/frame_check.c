/* frame_check.c: reports where functions begin and end, for watched locals; see frame_check.h.
 *
 * Nothing below the stack pointer is in use at a function's begin. At its ends the runtime still
 * reads locals there. */
#include "x86/frame_check.h"

#include "format/watch.h"

static void write_begin(struct buffer *out, const char *function, uint32_t label,
                        const struct frame_row *frame) {
    buffer_print(out, "pushq $.LQzb%u-%s", label, function);
    write_adjust(out, frame, 8);
    buffer_print(out, "; call quipu_watch_function_begin; .LQzb%u: leaq 8(%%rsp), %%rsp", label);
    write_adjust(out, frame, -8);
}

bool has_frame_address(const struct frame_row *frame) {
    return frame->known && (frame->by_rsp || frame->by_rbp);
}

/* Pushes where the canonical frame address is: QUIPU_FRAME_BY_RSP or ..._BY_RBP. */
static void write_end(struct buffer *out, bool freed, const struct frame_row *frame) {
    long long address = !freed          ? QUIPU_FRAME_BY_RSP(8)
                        : frame->by_rsp ? QUIPU_FRAME_BY_RSP(frame->offset)
                                        : QUIPU_FRAME_BY_RBP(frame->offset);
    write_stack_move(out, frame, -RED_ZONE);
    buffer_print(out, "pushq $%lld", address);
    write_adjust(out, frame, 8);
    buffer_text(out, "; call quipu_watch_function_end; ");
    write_last_move(out, frame, RED_ZONE + 8);
}

static void write_back(struct buffer *out, const struct frame_row *frame) {
    write_runtime_call(out, frame, "quipu_watch_function_back");
}

void write_frame_stub(struct buffer *out, enum frame_site site, const char *function,
                      uint32_t label, bool shared, const struct frame_row *frame) {
    if (site == FRAME_BEGIN)
        write_begin(out, function, label, frame);
    else if (site == FRAME_BACK)
        write_back(out, frame);
    else
        write_end(out, site == FRAME_FREED, frame);
    buffer_print(out, "; jmp .LQ%c%u", shared ? 'z' : 'q', label);
}

void write_frame_row(struct buffer *out, enum frame_site site, const char *function, uint32_t label,
                     bool shared) {
    static const uint32_t kinds[] = {
        [FRAME_BEGIN] = QUIPU_SITE_BEGIN,
        [FRAME_END] = QUIPU_SITE_END,
        [FRAME_FREED] = QUIPU_SITE_END,
        [FRAME_BACK] = QUIPU_SITE_BACK,
    };
    buffer_print(out, "\t.long .LQa%u-., .LQz%s%u-., %s-., 0x%x\n", label, shared ? "f" : "", label,
                 function, kinds[site]);
}

void write_code_row(struct buffer *out, uint32_t function, size_t fragment, bool is_main) {
    buffer_print(out, "\t.long .LQf%u_%zu-., .LQ%c%u_%zu-., .LQh%u_%zu-., 0x%x\n", function,
                 fragment, is_main ? 'h' : 'f', function, fragment, function, fragment,
                 QUIPU_SITE_CODE);
}
