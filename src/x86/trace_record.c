/* trace_record.c: inserted code that records for traces; see trace_record.h.
 *
 * Two registers are needed: one leads to the thread's cursor, one is the cursor. Where they are not
 * free they are saved on the stack, below the red zone if the function may use that. If only %r11
 * is free, and flags, it is the one and then the other.
 *
 * If %r11 is free it is the cursor, and the next record need not load it. This matters more than
 * the number of instructions: a load of what was just stored waits for that. */
#include "x86/trace_record.h"

#include <stdio.h>

enum {
    R10 = 10,
    R11 = 11,
    NAME_SIZE = 16 /* of an instruction that pushes a register */
};

/* Where a record's code has its registers. */
struct record_registers {
    int base;      /* leads to the cursor */
    int cursor;    /* the end of the record */
    int raised;    /* the stack pointer is so many bytes lower than at the program's instruction */
    bool compares; /* flags may change where the cursor is loaded */
};

static unsigned count_registers(uint16_t registers) {
    return (unsigned)__builtin_popcount(registers);
}

struct quipu_trace_form trace_record_form(const struct trace_code *code) {
    return (struct quipu_trace_form){
        .sync = code->repeated ? QUIPU_TRACE_SHORT_SYNC : code->sync,
        .wide = (uint8_t)count_registers(code->registers & ~code->narrow),
        .narrow = (uint8_t)count_registers(code->narrow),
        .vectors = code->vector_count > 0,
    };
}

static unsigned head_size(const struct trace_code *code) {
    return quipu_trace_head_size(trace_record_form(code), code->id);
}

static unsigned values_size(const struct trace_code *code) {
    struct quipu_trace_form form = trace_record_form(code);
    unsigned size = 8u * form.wide + 4u * form.narrow;
    for (unsigned i = 0; i < code->vector_count; i++)
        size += code->vectors[i].size;
    return size;
}

unsigned trace_record_size(const struct trace_code *code) {
    return head_size(code) + values_size(code);
}

struct trace_code repeated_record(const struct trace_code *code) {
    struct trace_code repeated = *code;
    repeated.repeated = true;
    repeated.registers = code->narrow;
    return repeated;
}

/* Writes the name of register NUMBER, or of its lower half. */
static void write_name(struct buffer *out, int number, bool half) {
    const char *name = register_name(number);
    if (!half)
        buffer_print(out, "%%%s", name);
    else if (number < 8)
        buffer_print(out, "%%e%s", name + 1);
    else
        buffer_print(out, "%%%sd", name);
}

/* Writes INSTRUCTION with the registers that it names by %b, %c (the base, the cursor), and %B, %C
 * (their lower halves). */
static void write_with(struct buffer *out, const struct record_registers *registers,
                       const char *instruction) {
    for (; *instruction; instruction++) {
        if (*instruction != '@') {
            buffer_add(out, instruction, 1);
            continue;
        }
        instruction++;
        bool base = *instruction == 'b' || *instruction == 'B';
        write_name(out, base ? registers->base : registers->cursor,
                   *instruction == 'B' || *instruction == 'C');
    }
}

static void write_base(struct buffer *out, const struct record_registers *registers, bool shared) {
    if (shared) {
        buffer_print(out, "movq quipu_trace@gottpoff(%%rip), %%%s; movq %%fs:(%%%s), %%%s; ",
                     register_name(registers->base), register_name(registers->base),
                     register_name(registers->base));
        return;
    }
    buffer_print(out, "movq %%fs:quipu_trace@tpoff, %%%s; ", register_name(registers->base));
}

/* Brings the cursor into its register. %r11 most often has it already, as a function that was
 * called, or that calls, has left it there. A comparison is predicted, while a load waits for the
 * last store of the cursor. */
static void write_cursor(struct buffer *out, const struct code_context *context,
                         const struct record_registers *registers, const struct frame_row *frame) {
    if (registers->cursor != R11 || !registers->compares) {
        write_with(out, registers, "movq (@b), @c; ");
        return;
    }
    uint32_t label = ++*context->labels;
    struct buffer load = {0};
    write_with(&load, registers, "movq (@b), @c");
    write_with(out, registers, "cmpq (@b), @c; ");
    buffer_print(out, "%sjne .LQs%u; .LQr%u: ", stub_jump(context), label, label);
    write_stub(
        context, label, load.data, "jmp",
        &(struct load_place){.frame = *frame, .at_entry = true /* it has no red zone to keep */});
    buffer_release(&load);
}

/* The test whether there is room. The code out of line returns the end of the record in a new
 * chunk, and jumps to .LQrLABEL. */
static void write_room_test(struct buffer *out, const struct code_context *context,
                            const struct record_registers *registers, unsigned size,
                            const struct frame_row *frame, uint32_t label) {
    struct buffer call = {0};
    buffer_print(&call, "movl $%u, ", size);
    write_name(&call, registers->base, true);
    if (registers->base != R10)
        write_with(&call, registers, "; xchgq @b, %r10");
    if (registers->cursor != R11)
        write_with(&call, registers, "; xchgq @c, %r11");
    buffer_text(&call, "; call quipu_trace_full");
    if (registers->cursor != R11)
        write_with(&call, registers, "; xchgq @c, %r11");
    if (registers->base != R10)
        write_with(&call, registers, "; xchgq @b, %r10");
    buffer_print(out, "testl $%d, ", QUIPU_TRACE_FULL);
    write_name(out, registers->cursor, true);
    buffer_print(out, "; %sjnz .LQs%u; ", stub_jump(context), label);
    write_stub(context, label, call.data, "jmp", &(struct load_place){.frame = *frame});
    buffer_release(&call);
}

static void write_witness(struct buffer *out, const struct trace_code *code, const char *cursor,
                          int size) {
    struct quipu_trace_form form = trace_record_form(code);
    if (code->id < 256) {
        buffer_print(out, "movb $%u, %d(%%%s)", code->id, -size, cursor);
        return;
    }
    if (code->id < QUIPU_TRACE_NUMBERED) { /* two bytes, and zeros where something else follows */
        uint32_t head = (QUIPU_TRACE_DOUBLE + code->id / 256 - 1) | code->id % 256 << 8;
        buffer_print(out, "movl $%u, %d(%%%s)", head, -size, cursor);
        return;
    }
    uint32_t number = code->id - QUIPU_TRACE_NUMBERED;
    if (quipu_trace_is_long(form, code->id)) {
        uint32_t values = form.wide + (uint32_t)QUIPU_TRACE_LONG_VALUES * form.narrow;
        buffer_print(out, "movl $%u, %d(%%%s)", QUIPU_TRACE_LONG | values << 8 | number << 16,
                     -size, cursor);
        return;
    }
    buffer_print(out, "movl $%u, %d(%%%s); movl $%u, %d(%%%s)", QUIPU_TRACE_LARGE | number << 8,
                 -size, cursor, values_size(code), 4 - size, cursor);
}

static void write_head(struct buffer *out, const struct trace_code *code,
                       const struct record_registers *registers, int size) {
    const char *cursor = register_name(registers->cursor);
    if (!code->sync) {
        write_witness(out, code, cursor, size);
        return;
    }
    const struct quipu_trace_head *row = quipu_trace_head_of(trace_record_form(code));
    const char *base = register_name(registers->base);
    int place = code->repeated ? QUIPU_TRACE_REPEATED_SYNC_CODE : QUIPU_TRACE_SYNC_CODE;
    buffer_print(out, "movb $%d, %d(%%%s); ", row ? row->first : QUIPU_TRACE_LARGE_SYNC, -size,
                 cursor);
    if (registers->raised)
        buffer_print(out, "leaq %d(%%rsp), %%%s; movq %%%s, %d(%%%s); ", registers->raised, base,
                     base, 1 - size, cursor);
    else if (!code->repeated)
        buffer_print(out, "movq %%rsp, %d(%%%s); ", 1 - size, cursor);
    /* This writes over the two highest bytes of the stack pointer. */
    buffer_print(out, "leaq .LQw%u(%%rip), %%%s; movl ", code->label, base);
    write_name(out, registers->base, true);
    buffer_print(out, ", %d(%%%s)", place - size, cursor);
    if (!row)
        buffer_print(out, "; movl $%u, %d(%%%s)", values_size(code), QUIPU_TRACE_SYNC_SIZE - size,
                     cursor);
}

/* Stores a register at AT from the cursor, and returns the number of bytes. */
static int write_value(struct buffer *out, const struct trace_code *code,
                       const struct record_registers *registers, int reg, int at) {
    bool narrow = code->narrow >> reg & 1;
    const char *cursor = register_name(registers->cursor);
    if (reg == STACK_POINTER && registers->raised) {
        const char *base = register_name(registers->base);
        buffer_print(out, "; leaq %d(%%rsp), %%%s; movq %%%s, %d(%%%s)", registers->raised, base,
                     base, at, cursor);
        return 8;
    }
    buffer_text(out, narrow ? "; movl " : "; movq ");
    write_name(out, reg, narrow);
    buffer_print(out, ", %d(%%%s)", at, cursor);
    return narrow ? 4 : 8;
}

/* Stores a vector or mask at AT from the cursor. The form needs no more than the instruction that
 * uses the vector. */
static void write_vector(struct buffer *out, const struct record_registers *registers,
                         const struct access_vector *vector, int at) {
    const char *cursor = register_name(registers->cursor);
    const char *letter = vector->size == 64 ? "z" : vector->size == 32 ? "y" : "x";
    if (vector->size <= 8)
        buffer_print(out, "; kmov%s %%k%u, %d(%%%s)", vector->size == 8 ? "q" : "w", vector->number,
                     at, cursor);
    else if (vector->number >= 16 || vector->size == 64)
        buffer_print(out, "; vmovdqu64 %%%smm%u, %d(%%%s)", letter, vector->number, at, cursor);
    else
        buffer_print(out, "; %smovdqu %%%smm%u, %d(%%%s)", vector->legacy ? "" : "v", letter,
                     vector->number, at, cursor);
}

/* Reserves the record of CODE. */
static void write_reservation(struct buffer *out, const struct trace_code *code,
                              const struct record_registers *registers) {
    char instruction[NAME_SIZE * 2];
    snprintf(instruction, sizeof instruction, "leaq %u(@c), @c; ", trace_record_size(code));
    write_with(out, registers, instruction);
    write_with(out, registers, "movq @c, (@b); ");
}

/* Fills in the record, which is reserved. */
static void write_contents(struct buffer *out, const struct trace_code *code,
                           const struct record_registers *registers) {
    int size = (int)trace_record_size(code), at = (int)head_size(code) - size;
    write_head(out, code, registers, size);
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        if ((code->registers & ~code->narrow) >> reg & 1)
            at += write_value(out, code, registers, reg, at);
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (code->narrow >> reg & 1)
            at += write_value(out, code, registers, reg, at);
    for (unsigned i = 0; i < code->vector_count; i++) {
        write_vector(out, registers, &code->vectors[i], at);
        at += code->vectors[i].size;
    }
}

static void write_with_one(struct buffer *out, const struct record_registers *registers,
                           const char *instruction, int reg, uint32_t last, const char *end) {
    buffer_print(out, "%s %%%s, %u(%%%s); %s", instruction, register_name(reg),
                 QUIPU_TRACE_LAST_VALUES + 8 * (last % QUIPU_TRACE_LAST_COUNT),
                 register_name(registers->base), end);
}

/* Writes INSTRUCTION for each value of 8 bytes that the record can repeat: with its register, and
 * the place of the last one. */
static void write_with_last(struct buffer *out, const struct trace_code *code,
                            const struct record_registers *registers, const char *instruction,
                            const char *end) {
    uint32_t last = code->last;
    if (code->sync)
        write_with_one(out, registers, instruction, STACK_POINTER, last++, end);
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        if ((code->registers & ~code->narrow) >> reg & 1)
            write_with_one(out, registers, instruction, reg, last++, end);
}

/* A record that tells whether its values are those of the last time. Whether there is room is
 * tested in front of the comparison: a new chunk may change what is compared. It keeps the values
 * for the next time before it fills in the head, for which it may change the base. */
static void write_repeating(struct buffer *out, const struct code_context *context,
                            const struct trace_code *code, const struct record_registers *registers,
                            bool tested, const struct frame_row *frame) {
    struct trace_code repeated = repeated_record(code);
    uint32_t full = ++*context->labels, changed = ++*context->labels;
    struct buffer other = {0};
    char jump[NAME_SIZE * 2];
    if (tested)
        write_room_test(out, context, registers, trace_record_size(code), frame, full);
    snprintf(jump, sizeof jump, "%sjne .LQs%u; ", stub_jump(context), changed);
    write_with_last(out, code, registers, "cmpq", jump);
    write_reservation(out, &repeated, registers);
    write_contents(out, &repeated, registers);
    buffer_print(out, "; .LQr%u:", changed);
    write_reservation(&other, code, registers);
    buffer_print(&other, ".LQr%u: ", full);
    write_with_last(&other, code, registers, "movq", "");
    write_contents(&other, code, registers);
    write_stub(context, changed, other.data, "jmp",
               &(struct load_place){.frame = *frame, .at_entry = true /* it calls nothing */});
    buffer_release(&other);
}

static void write_body(struct buffer *out, const struct code_context *context,
                       const struct trace_code *code, const struct record_registers *registers,
                       bool tested, const struct frame_row *frame) {
    write_base(out, registers, code->shared);
    if (!code->held)
        write_cursor(out, context, registers, frame);
    if (code->repeats) {
        write_repeating(out, context, code, registers, tested, frame);
        return;
    }
    write_reservation(out, code, registers);
    if (tested) {
        uint32_t label = ++*context->labels;
        write_room_test(out, context, registers, trace_record_size(code), frame, label);
        buffer_print(out, ".LQr%u: ", label);
    }
    write_contents(out, code, registers);
}

/* Returns a register of FREE for the cursor or its base, or -1. */
static int find_register(uint16_t free) {
    for (int i = 0; i < BASE_CANDIDATES; i++)
        if (free >> base_candidates[i] & 1)
            return base_candidates[i];
    return -1;
}

static bool find_registers(struct record_registers *registers, uint16_t free) {
    registers->cursor = find_register(free & (uint16_t)~REGISTER_R10);
    if (registers->cursor < 0)
        return false;
    registers->base =
        free & REGISTER_R10 ? R10 : find_register(free & (uint16_t) ~(1u << registers->cursor));
    return registers->base >= 0;
}

bool trace_record_holds(const struct trace_code *code, const struct clobbers *clobbers) {
    return clobbers->free & ~code->registers & REGISTER_R11 && !code->vector_count;
}

/* Whether %r11 alone is free for the record, and is enough. */
static bool is_alone(const struct trace_code *code, const struct clobbers *clobbers) {
    struct record_registers registers;
    return trace_record_holds(code, clobbers) && clobbers->flags_free && !code->sync &&
           !find_registers(&registers, clobbers->free & (uint16_t)~code->registers);
}

/* Only where the cursor is in %r11 the runtime can correct it when a handler returns between the
 * test of the room and the reservation. */
bool trace_record_may_repeat(const struct trace_code *code, const struct clobbers *clobbers) {
    struct record_registers registers;
    struct trace_code repeated = repeated_record(code);
    return code->sync && trace_record_holds(code, clobbers) && clobbers->flags_free &&
           find_registers(&registers, clobbers->free & (uint16_t)~code->registers) &&
           quipu_trace_head_of(trace_record_form(&repeated));
}

/* ---- records with one register ----
 *
 * %r11 leads to the cursor, an addition to memory reserves the record, and then %r11 is the
 * cursor. */

static const struct record_registers alone = {.base = R11, .cursor = R11};

/* The test whether there is room. The code out of line returns the end of the record in a new
 * chunk, and jumps to .LQrLABEL. */
static void write_room_test_alone(struct buffer *out, const struct code_context *context,
                                  unsigned size, const struct frame_row *frame, uint32_t label) {
    struct buffer call = {0};
    write_push(&call, frame, "pushq %r10");
    buffer_print(&call, "movl $%u, %%r10d; call quipu_trace_full; ", size);
    write_last_pop(&call, frame, "popq %r10");
    buffer_print(out, "testb $%d, 2(%%r11); %sjnz .LQs%u; ", QUIPU_TRACE_FULL >> 16,
                 stub_jump(context), label);
    write_stub(context, label, call.data, "jmp", &(struct load_place){.frame = *frame});
    buffer_release(&call);
}

static void write_alone(struct buffer *out, const struct code_context *context,
                        const struct trace_code *code, bool tested, const struct frame_row *frame) {
    uint32_t full = ++*context->labels;
    write_base(out, &alone, code->shared);
    if (tested)
        write_room_test_alone(out, context, trace_record_size(code), frame, full);
    buffer_print(out, "addq $%u, (%%r11); movq (%%r11), %%r11; .LQr%u: ", trace_record_size(code),
                 full);
    write_contents(out, code, &alone);
}

/* Saves the registers that are not free, and flags if they are live. */
static void write_saving(struct buffer *out, const struct code_context *context,
                         const struct trace_code *code, const struct clobbers *clobbers,
                         bool tested) {
    bool flags = tested && !clobbers->flags_free;
    struct record_registers registers = {0};
    find_registers(&registers, REGISTERS_ALL & ~code->registers);
    int saved[2];
    int count = 0;
    saved[count++] = registers.base;
    if (!(clobbers->free >> registers.cursor & 1))
        saved[count++] = registers.cursor;
    int around = clobbers->red_zone_free ? 0 : RED_ZONE;
    registers.raised = around + 8 * count + 8 * flags;
    struct frame_row below = clobbers->frame;
    below.offset += below.by_rsp ? registers.raised : 0;
    char text[NAME_SIZE];
    if (around)
        write_stack_move(out, &clobbers->frame, -around);
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "pushq %%%s", register_name(saved[i]));
        write_push(out, &clobbers->frame, text);
    }
    if (flags)
        write_push(out, &clobbers->frame, "pushfq");
    write_body(out, context, code, &registers, tested, &below);
    if (flags) {
        buffer_text(out, "; ");
        write_last_pop(out, &clobbers->frame, "popfq");
    }
    for (int i = count; i-- > 0;) {
        snprintf(text, sizeof text, "popq %%%s", register_name(saved[i]));
        buffer_text(out, "; ");
        write_last_pop(out, &clobbers->frame, text);
    }
    if (around) {
        buffer_text(out, "; ");
        write_last_move(out, &clobbers->frame, around);
    }
}

void write_trace_record(struct buffer *out, const struct code_context *context,
                        const struct trace_code *code, const struct clobbers *clobbers) {
    struct record_registers registers = {.compares = clobbers->flags_free};
    bool tested = code->tested || (clobbers->flags_free && !code->roomy);
    buffer_print(out, ".LQw%u: ", code->label);
    if ((!tested || clobbers->flags_free) &&
        find_registers(&registers, clobbers->free & (uint16_t)~code->registers))
        write_body(out, context, code, &registers, tested, &clobbers->frame);
    else if (is_alone(code, clobbers))
        write_alone(out, context, code, tested, &clobbers->frame);
    else
        write_saving(out, context, code, clobbers, tested);
    buffer_print(out, "; .LQx%u:", code->label);
}

void write_trace_handler_test(struct buffer *out, const struct code_context *context,
                              const struct load_place *place, int scratch) {
    uint32_t label = ++*context->labels;
    if (scratch < 0) {
        write_push(out, &place->frame, "pushq %rax");
        buffer_text(out, "leaq 16(%rsp), %rax; cmpq %rax, %rdx; ");
        write_pop(out, &place->frame, "popq %rax");
    } else {
        buffer_print(out, "leaq 8(%%rsp), %%%s; cmpq %%%s, %%rdx; ", register_name(scratch),
                     register_name(scratch));
    }
    buffer_print(out, "%sje .LQs%u; .LQr%u: ", stub_jump(context), label, label);
    write_stub(context, label, "call quipu_trace_handler", "jmp", place);
}
