/* trace_tail.c: a jump out of a function as a call; see trace_record.h. The calling convention is
 * that of x86-64 (System V ABI, section 3.2): the stack pointer is a multiple of 16 at a call. */
#include "x86/trace_record.h"

enum {
    ADDRESS_SIZE = 8
};

void write_tail_call(struct buffer *out, const struct frame_row *frame, struct span callee,
                     bool slot) {
    write_stack_move(out, frame, -ADDRESS_SIZE);
    buffer_print(out, slot ? "call *%.*s@GOTPCREL(%%rip); " : "call %.*s@PLT; ", (int)callee.length,
                 callee.start);
}

void write_tail_return(struct buffer *out, const struct frame_row *frame) {
    buffer_text(out, "; ");
    write_last_move(out, frame, ADDRESS_SIZE);
    buffer_text(out, "; ret");
}

uint16_t registers_of_callee(void) {
    return REGISTER_RAX | REGISTER_RCX | REGISTER_RDX | REGISTER_RSI | REGISTER_RDI | REGISTER_R8 |
           REGISTER_R9 | REGISTER_R10 | REGISTER_R11;
}
