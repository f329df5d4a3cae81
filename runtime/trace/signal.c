/* signal.c: signal handlers in a trace.
 *
 * A handler's own records follow those of what it has interrupted. So a record that was interrupted
 * is either not begun, or complete: the thread is moved back in front of it, or what is left of its
 * code is done here, one instruction after the other. The code is as src/x86/trace_record.c writes
 * it.
 *
 * The interrupted code may have the cursor in %r11, for its next record. If %r11 leads into a
 * buffer of the thread, it is the cursor, or is not used any more: no program has another address
 * there. So it gets the new cursor when the handler returns.
 *
 * Not perfect: where vectors are stored into a record, the record cannot be completed. It is, once
 * the handler has returned. If the handler fills the whole buffer, that is handed over when the
 * process ends. */
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"
#include "runtime/trace/measure.h"
#include "runtime/trace/trace.h"

enum {
    PUSH_SIZE = 1, /* of pushq %rbp, at quipu_trace_full_frame */
    CALL_SIZE = 5,
    LOAD_SIZE = 3, /* of movq (BASE), %r11 */
    COMPARISON_SIZE = 7,
    POP_SIZE = 2,
};

/* handler.S: what handlers return to, if %r11 of the interrupted code is the cursor, and if not. */
extern const char quipu_trace_cursor_restorer[], quipu_trace_restorer[];

/* Whether the code is that to which the kernel lets handlers return: mov $15, %rax; syscall. */
static bool is_restorer(const uint8_t *code) {
    static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
    return bytes_equal(code, restorer, sizeof restorer);
}

/* Returns the displacement at CODE, whose size follows from the operand's MODE byte. */
static int32_t displacement(const uint8_t *code, uint8_t mode) {
    if (mode >> 6 == 1)
        return (int8_t)code[0];
    return (int32_t)((uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
                     (uint32_t)code[3] << 24);
}

/* The registers of a context, as encoded. */
static const uint8_t context_registers[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                              REG_R12, REG_R13, REG_R14, REG_R15};

/* Whether CODE is an instruction of 64-bit registers with this opcode, and an operand in memory by
 * its base alone, or a displacement of SIZE bytes. Sets its registers. */
static bool is_record_part(const uint8_t *code, uint8_t opcode, unsigned size, unsigned *base,
                           unsigned *reg) {
    if ((code[0] & 0xfa) != 0x48 || code[1] != opcode)
        return false;
    *base = (code[2] & 7u) | (code[0] & 1u) << 3;
    *reg = (code[2] >> 3 & 7u) | (code[0] & 4u) << 1;
    return code[2] >> 6 == (size == 0 ? 0 : size == 1 ? 1 : 2) && (*base & 6) != 4;
}

/* The code that reserves a record: movq (BASE), REG; leaq N(REG), REG; movq REG, (BASE). The load
 * is left out, or out of line, where REG is the cursor, which then is %r11. */
struct reservation {
    const uint8_t *begin;
    unsigned base, reg;
    uint64_t size; /* of the record */
    bool held;     /* there is no load in front of it */
};

/* Finds the reservation of which the last instruction begins at STORE. */
static bool find_reservation(const uint8_t *store, struct reservation *found) {
    unsigned other, same;
    if (!is_record_part(store, 0x89, 0, &found->base, &found->reg))
        return false;
    for (unsigned size = 1; size <= 4; size += 3) {
        const uint8_t *add = store - 3 - size;
        if (!is_record_part(add, 0x8d, size, &other, &same) || other != found->reg ||
            same != found->reg)
            continue;
        found->size = (uint64_t)displacement(add + 3, add[2]);
        found->held = !is_record_part(add - 3, 0x8b, 0, &other, &same) || other != found->base ||
                      same != found->reg;
        found->begin = found->held ? add : add - 3;
        return !found->held || context_registers[found->reg] == REG_R11;
    }
    return false;
}

/* Returns the size of the test of the cursor's bit at CODE, or 0. */
static unsigned test_size(const uint8_t *code) {
    static const uint8_t bit[] = {0, 0, QUIPU_TRACE_FULL >> 16, 0};
    unsigned prefix = code[0] == 0x41;
    code += prefix;
    if (code[0] == 0xa9 && bytes_equal(code + 1, bit, sizeof bit))
        return prefix + 5;
    return code[0] == 0xf7 && code[1] >> 3 == 0x18 && bytes_equal(code + 2, bit, sizeof bit)
               ? prefix + 6
               : 0;
}

/* Moves the thread back to the begin of the reservation, unless that is other code. STORED: the
 * cursor was stored, too. */
static bool restart(greg_t *registers, struct thread *thread, const struct reservation *reservation,
                    bool stored) {
    if ((uint64_t)registers[context_registers[reservation->base]] != (uint64_t)thread)
        return false;
    if (thread->known.cursor & QUIPU_TRACE_FULL)
        thread->known.cursor = QUIPU_TRACE_FULL;
    else if (stored)
        thread->known.cursor -= reservation->size;
    if (reservation->held)
        registers[REG_R11] -= (greg_t)reservation->size;
    registers[REG_RIP] = (greg_t)reservation->begin;
    return true;
}

/* Returns where the jump at CODE leads, or NULL if there is none. */
static const uint8_t *jump_target(const uint8_t *code) {
    if (code[0] == 0xeb)
        return code + 2 + (int8_t)code[1];
    return code[0] == 0xe9 ? code + 5 + displacement(code + 1, 0) : NULL;
}

/* If the thread was interrupted where the cursor is loaded out of line, movq (BASE), %r11; jmp
 * back, does what is left of that. */
static void leave_load(greg_t *registers, const struct thread *thread) {
    const uint8_t *at = (const void *)registers[REG_RIP];
    for (unsigned done = 0; done <= LOAD_SIZE; done += LOAD_SIZE) {
        unsigned base, reg;
        const uint8_t *load = at - done, *back = jump_target(load + LOAD_SIZE);
        if (!back || !is_record_part(load, 0x8b, 0, &base, &reg) ||
            context_registers[reg] != REG_R11 ||
            (uint64_t)registers[context_registers[base]] != (uint64_t)thread)
            continue;
        registers[REG_R11] = (greg_t)thread->known.cursor;
        registers[REG_RIP] = (greg_t)back;
        return;
    }
}

/* If the thread was interrupted in the code of a record in front of the record's head, moves it
 * back to the begin of the reservation, and returns true. */
static bool restart_record(greg_t *registers, struct thread *thread) {
    const uint8_t *at = (const void *)registers[REG_RIP];
    struct reservation found;
    const uint8_t *stores[] = {at, at + 4, at + 7};
    for (int i = 0; i < 3; i++) /* in front of the store, or of the addition */
        if (find_reservation(stores[i], &found) && found.begin < at &&
            restart(registers, thread, &found, false))
            return true;
    const uint8_t *tests[] = {at, at - 7, at - 6, at - 5};
    for (int i = 0; i < 4; i++) { /* in front of the test, or of the jump */
        unsigned size = test_size(tests[i]);
        if (size && (i == 0 || tests[i] + size == at) && find_reservation(tests[i] - 3, &found) &&
            restart(registers, thread, &found, true))
            return true;
    }
    return false;
}

/* ---- the comparison with the last values ---- */

/* Whether ADDRESS is that of one of the thread's last values. */
static bool is_last_value(const struct thread *thread, uint64_t address) {
    return address - (uint64_t)thread->last < sizeof thread->last;
}

/* Whether the instruction in front of AT is cmpq REG, DISPLACEMENT(BASE), of a last value. */
static bool is_behind_comparison(const greg_t *registers, const struct thread *thread,
                                 const uint8_t *at) {
    unsigned base, reg;
    at -= COMPARISON_SIZE;
    return is_record_part(at, 0x39, 4, &base, &reg) &&
           is_last_value(thread, (uint64_t)registers[context_registers[base]] +
                                     (uint64_t)(int64_t)displacement(at + 3, at[2]));
}

/* A handler may change the last values. So if the thread was interrupted between the comparison
 * with them and the reservation of a record that relies on it, moves it back to the first
 * comparison. */
static void compare_again(greg_t *registers, const struct thread *thread) {
    const uint8_t *at = (const void *)registers[REG_RIP];
    if (is_behind_comparison(registers, thread, at))
        at -= COMPARISON_SIZE;
    for (;;) {
        if (at[-2] == 0x75 && is_behind_comparison(registers, thread, at - 2)) /* jne */
            at -= 2 + COMPARISON_SIZE;
        else if (at[-6] == 0x0f && at[-5] == 0x85 &&
                 is_behind_comparison(registers, thread, at - 6))
            at -= 6 + COMPARISON_SIZE;
        else
            break;
    }
    registers[REG_RIP] = (greg_t)at;
}

/* ---- the code that fills in a record ---- */

/* An instruction of it. */
struct filling {
    uint8_t opcode;
    bool wide;          /* 64 bits, otherwise 32 */
    unsigned reg, base; /* base 4: relative to the stack pointer, 5: to the instruction pointer */
    int32_t displacement;
    const uint8_t *immediate, *end;
};

static bool decode_filling(const uint8_t *code, struct filling *filling) {
    unsigned prefix = (*code & 0xf0) == 0x40 ? *code++ : 0;
    unsigned mode = code[1] >> 6;
    bool on_stack = (code[1] & 7) == 4;
    *filling = (struct filling){.opcode = code[0],
                                .wide = prefix & 8,
                                .reg = (code[1] >> 3 & 7u) | (prefix & 4) << 1,
                                .base = (code[1] & 7u) | (prefix & 1) << 3};
    if (mode == 3 || (mode == 0 && (code[1] & 7) != 5) || (on_stack && code[2] != 0x24))
        return false;
    const uint8_t *at = code + 2 + on_stack;
    filling->displacement = displacement(at, mode == 1 ? 1 << 6 : 0);
    filling->immediate = at + (mode == 1 ? 1 : 4);
    filling->end = filling->immediate + (code[0] == 0xc6 ? 1 : code[0] == 0xc7 ? 4 : 0);
    if (code[0] == 0x8d) /* lea: of the stack pointer, or of the record's own address */
        return filling->wide && (on_stack || mode == 0);
    return (code[0] == 0x89 || code[0] == 0xc6 || code[0] == 0xc7) && mode && !on_stack;
}

/* Whether ADDRESS is in one of the thread's buffers, or at its end. */
static bool is_in_buffer(const struct thread *thread, uint64_t address) {
    if (thread->nowhere && address - (uint64_t)thread->nowhere <= QUIPU_TRACE_RECORDS_MAX)
        return true;
    for (uint32_t i = 0; i < thread->buffer_count; i++)
        if (address - (uint64_t)records_of(thread->buffers[i]) <= QUIPU_TRACE_RECORDS_MAX)
            return true;
    return false;
}

/* Does the instruction if it is of a record that ends at the thread's cursor, or keeps a value of
 * it as the last one. */
static bool fill_in(greg_t *registers, struct thread *thread, const struct filling *filling) {
    greg_t *reg = &registers[context_registers[filling->reg]];
    if (filling->opcode == 0x8d) {
        uint64_t from = filling->base == 4 ? (uint64_t)registers[REG_RSP] : (uint64_t)filling->end;
        *reg = (greg_t)(from + (uint64_t)(int64_t)filling->displacement);
        return true;
    }
    uint64_t cursor = (uint64_t)registers[context_registers[filling->base]];
    uint64_t last = cursor + (uint64_t)(int64_t)filling->displacement;
    if (filling->opcode == 0x89 && filling->wide && is_last_value(thread, last)) {
        thread->last[(last - (uint64_t)thread->last) / sizeof(uint64_t)] = (uint64_t)*reg;
        return true;
    }
    if (cursor != thread->known.cursor || !thread->chunk || filling->displacement >= 0 ||
        cursor - (uint64_t)records_of(thread->chunk) > QUIPU_TRACE_RECORDS_MAX)
        return false;
    char *to = (char *)cursor + filling->displacement;
    const uint8_t *from = filling->opcode == 0x89 ? (const uint8_t *)reg : filling->immediate;
    unsigned size = filling->opcode == 0xc6 ? 1 : filling->wide ? 8 : 4;
    for (unsigned i = 0; i < size; i++)
        to[i] = (char)from[i];
    return true;
}

/* Whether the instruction at CODE stores a vector or a mask to a record of the thread: movdqu,
 * vmovdqu, vmovdqu64 and kmov, as src/x86/trace_record.c writes them. It need not be the last
 * record: where a handler returns to such an instruction, another one may come in at once. */
static bool stores_vector(const uint8_t *code, const greg_t *registers,
                          const struct thread *thread) {
    bool high; /* the base is one of %r8 to %r15 */
    if (code[0] == 0xf3) {
        code++;
        high = (*code & 0xf0) == 0x40 && *code & 1;
        code += (*code & 0xf0) == 0x40;
        if (*code++ != 0x0f)
            return false;
    } else if (code[0] == 0xc5) {
        high = false;
        code += 2;
    } else if (code[0] == 0xc4 || code[0] == 0x62) {
        high = !(code[1] & 0x20);
        code += code[0] == 0xc4 ? 3 : 4;
    } else {
        return false;
    }
    unsigned base = (code[1] & 7u) | (unsigned)high << 3;
    return (code[0] == 0x7f || code[0] == 0x91) && code[1] >> 6 != 3 && (base & 7) != 4 &&
           is_in_buffer(thread, (uint64_t)registers[context_registers[base]]);
}

/* Does the instruction at CODE if it is movq (%r11), %r11, which loads the cursor behind a
 * reservation. */
static bool load_cursor(greg_t *registers, const struct thread *thread, const uint8_t *code) {
    unsigned base, reg;
    if (!is_record_part(code, 0x8b, 0, &base, &reg) || base != reg ||
        (uint64_t)registers[context_registers[base]] != (uint64_t)thread)
        return false;
    registers[context_registers[reg]] = (greg_t)thread->known.cursor;
    return true;
}

/* The interrupted code still writes into the thread's buffer, when the handler with FRAME has
 * returned. */
static void hold(struct thread *thread, const void *frame) {
    if (!thread->held)
        thread->held = frame;
}

/* If the thread was interrupted while it filled in a record, does the rest of that. Returns false
 * if something is left. */
static bool complete_record(greg_t *registers, struct thread *thread, const void *frame) {
    struct filling filling;
    const uint8_t *at = (const void *)registers[REG_RIP];
    if (stores_vector(at, registers, thread)) {
        hold(thread, frame);
        return false;
    }
    if (load_cursor(registers, thread, at))
        registers[REG_RIP] = (greg_t)(at += LOAD_SIZE);
    if (!decode_filling(at, &filling))
        return true;
    /* An address alone may be the program's own. What follows it here writes to the record. */
    if (filling.opcode == 0x8d) {
        struct filling next;
        if (!decode_filling(filling.end, &next) || next.opcode != 0x89 || next.reg != filling.reg ||
            (uint64_t)registers[context_registers[next.base]] != thread->known.cursor)
            return true;
    }
    for (;;) {
        if (load_cursor(registers, thread, at))
            at += LOAD_SIZE;
        else if (decode_filling(at, &filling) && fill_in(registers, thread, &filling))
            at = filling.end;
        else
            break;
    }
    registers[REG_RIP] = (greg_t)at;
    if (!stores_vector(at, registers, thread))
        return true;
    hold(thread, frame);
    return false;
}

/* ---- the code out of line ---- */

/* Decodes xchgq OTHER, REG where both are general registers. Returns its size, or 0. */
static unsigned decode_exchange(const uint8_t *code, unsigned *other, unsigned *reg) {
    if ((code[0] & 0xf8) != 0x48)
        return 0;
    unsigned high = code[0] & 1u ? 8 : 0;
    if (code[1] >> 3 == 0x12) { /* with %rax */
        *other = (code[1] & 7u) | high;
        *reg = 0;
        return 2;
    }
    *other = (code[2] & 7u) | high;
    *reg = (code[2] >> 3 & 7u) | (code[0] & 4u) << 1;
    return code[1] == 0x87 && code[2] >> 6 == 3 ? 3 : 0;
}

/* Returns the size of lea N(%rsp), %rsp at CODE, or 0. */
static unsigned stack_move_size(const uint8_t *code) {
    static const uint8_t begin[] = {0x48, 0x8d, 0xa4, 0x24};
    return bytes_equal(code, begin, sizeof begin) ? sizeof begin + 4 : 0;
}

/* Whether CODE is popq %r10. */
static bool pops_base(const uint8_t *code) {
    return code[0] == 0x41 && code[1] == 0x5a;
}

/* Returns the size of the instruction at CODE, if it is one that may be between a call of
 * quipu_trace_full and the jump back; or 0. */
static unsigned stub_part_size(const uint8_t *code) {
    unsigned other, reg, size = decode_exchange(code, &other, &reg);
    if (size)
        return size;
    return pops_base(code) ? POP_SIZE : stack_move_size(code);
}

/* Whether AT is behind a call of quipu_trace_full, in front of the jump back. */
static bool is_behind_full(const uint8_t *at) {
    enum {
        LONGEST = 3 + 3 + 8 /* two exchanges, or a pop, and the stack pointer's move */
    };
    for (unsigned i = 0; i <= LONGEST; i++) {
        const uint8_t *next = at - i, *call = next - CALL_SIZE;
        if (call[0] != 0xe8 ||
            next + displacement(call + 1, 0) != (const uint8_t *)quipu_trace_full)
            continue;
        while (next < at && stub_part_size(next))
            next += stub_part_size(next);
        return next == at;
    }
    return false;
}

/* Does the instruction at CODE, which is one of those. */
static void do_stub_part(greg_t *registers, const uint8_t *code) {
    unsigned other, reg;
    if (decode_exchange(code, &other, &reg)) {
        greg_t value = registers[context_registers[other]];
        registers[context_registers[other]] = registers[context_registers[reg]];
        registers[context_registers[reg]] = value;
    } else if (pops_base(code)) {
        registers[REG_R10] = *(const greg_t *)registers[REG_RSP];
        registers[REG_RSP] += (greg_t)sizeof(greg_t);
    } else {
        registers[REG_RSP] += displacement(code + stack_move_size(code) - 4, 0);
    }
}

/* The thread was interrupted behind a call of quipu_trace_full: does what is left of the code out
 * of line, up to the record's head. */
static void leave_stub(greg_t *registers) {
    const uint8_t *at = (const void *)registers[REG_RIP];
    for (unsigned size; (size = stub_part_size(at)); at += size)
        do_stub_part(registers, at);
    const uint8_t *back = jump_target(at);
    registers[REG_RIP] = (greg_t)(back ? back : at);
}

/* The thread was interrupted in quipu_trace_full, behind quipu_trace_changed: moves it back to
 * quipu_trace_again. Its registers are still on the stack, at most a red zone below. */
static void restart_full(greg_t *registers, struct thread *thread) {
    enum {
        KEPT = 80, /* bytes of registers, see registers.inc */
        ROOM = 80, /* full.S */
        SIZE = 3   /* index of the record's size there */
    };
    if ((uint64_t)registers[REG_RIP] == (uint64_t)quipu_trace_full_end - 1) /* ret */
        registers[REG_RBP] = registers[REG_RSP] - 8;
    registers[REG_RSP] = ((registers[REG_RBP] - KEPT) & -16) - ROOM;
    thread->known.cursor -= ((const uint64_t *)registers[REG_RSP])[SIZE];
    registers[REG_RIP] = (greg_t)quipu_trace_again;
}

/* Makes sure that the thread's next record may follow. Returns false if the interrupted code still
 * writes to the last one. */
static bool settle_record(greg_t *registers, struct thread *thread, const void *frame) {
    uint64_t at = (uint64_t)registers[REG_RIP];
    if (at >= (uint64_t)quipu_trace_changed && at < (uint64_t)quipu_trace_full_end) {
        restart_full(registers, thread);
        return true;
    }
    leave_load(registers, thread);
    if (is_behind_full((const void *)registers[REG_RIP])) {
        leave_stub(registers);
    } else if (restart_record(registers, thread)) {
        compare_again(registers, thread);
        return true;
    }
    compare_again(registers, thread);
    return complete_record(registers, thread, frame);
}

/* A function of code [begin, end), which has a frame and ends with its only return. */
struct framed {
    uint64_t begin, frame, end; /* frame: of pushq %rbp */
};

static bool is_in(const struct framed *function, uint64_t at) {
    return at - function->begin < function->end - function->begin;
}

/* Whether AT is where %rbp is the function's own. */
static bool has_frame(const struct framed *function, uint64_t at) {
    return at > function->frame + PUSH_SIZE && at != function->end - 1;
}

/* Returns the return address of a function in which a thread was interrupted. */
static uint64_t return_address(const greg_t *registers, const struct framed *function) {
    const uint64_t *stack = (const void *)registers[REG_RSP];
    uint64_t at = (uint64_t)registers[REG_RIP];
    if (has_frame(function, at))
        return ((const uint64_t *)registers[REG_RBP])[1];
    return stack[at == function->frame + PUSH_SIZE];
}

/* Returns the address at which the program itself was interrupted: if that is in a library, the one
 * behind the call that led there, if it is found; if it is in quipu_trace_full,
 * the call of it while the record is not there yet, or else the instruction behind that call. In
 * quipu_trace_order and quipu_trace_measure it is that of the site, even if these functions have
 * called others. */
static uint64_t program_address(const ucontext_t *context) {
    const greg_t *registers = context->uc_mcontext.gregs;
    uint64_t at = (uint64_t)registers[REG_RIP];
    struct framed full = {(uint64_t)quipu_trace_full, (uint64_t)quipu_trace_full_frame,
                          (uint64_t)quipu_trace_full_end};
    struct framed order = {(uint64_t)quipu_trace_order, (uint64_t)quipu_trace_order_frame,
                           (uint64_t)quipu_trace_order_end};
    struct framed measure = {(uint64_t)quipu_trace_measure, (uint64_t)quipu_trace_measure_frame,
                             (uint64_t)quipu_trace_measure_end};
    if (is_in(&order, at))
        return return_address(registers, &order);
    if (is_in(&measure, at))
        return return_address(registers, &measure);
    if (!is_in(&full, at)) {
        uint64_t site =
            quipu_trace_measured_site((uint64_t)registers[REG_RBP], (uint64_t)registers[REG_RSP]);
        return site ? site
                    : quipu_trace_find_caller(quipu_state.trace, at, (uint64_t)registers[REG_RSP]);
    }
    uint64_t back = return_address(registers, &full);
    if (is_in(&order, back) || is_in(&measure, back)) {
        const uint64_t *frame = (const void *)registers[REG_RBP];
        return has_frame(&full, at) ? ((const uint64_t *)frame[0])[1] : frame[1];
    }
    return at < (uint64_t)quipu_trace_changed ? back - CALL_SIZE : back;
}

static void put(char *to, uint64_t value) {
    for (int i = 0; i < 8; i++)
        to[i] = (char)(value >> 8 * i);
}

void quipu_trace_interrupted(ucontext_t *context, const uint8_t *restorer) {
    struct thread *thread = (struct thread *)*quipu_trace_own();
    if (!is_restorer(restorer))
        return;
    if (&thread->known == &quipu_trace_unattached)
        return;
    uint64_t mask = block_signals();
    greg_t *registers = context->uc_mcontext.gregs;
    bool settled = settle_record(registers, thread, context);
    bool holds = settled && is_in_buffer(thread, (uint64_t)registers[REG_R11]);
    char *record = quipu_trace_add_record(thread, QUIPU_TRACE_HANDLER_SIZE);
    record[0] = QUIPU_TRACE_HANDLER;
    put(record + 1, program_address(context));
    put(record + 9, (uint64_t)context - 8);
    ((uint64_t *)context)[-1] = /* the return address */
        (uint64_t)(holds ? quipu_trace_cursor_restorer : quipu_trace_restorer);
    restore_signals(mask);
}

void quipu_trace_resumed(ucontext_t *frame, bool holds) {
    struct thread *thread = (struct thread *)*quipu_trace_own();
    uint64_t mask = block_signals();
    *quipu_trace_add_record(thread, QUIPU_TRACE_RESUMED_SIZE) = QUIPU_TRACE_RESUMED;
    if (thread->held == frame) /* now, as that record may have filled the buffer */
        thread->held = NULL;
    if (holds)
        frame->uc_mcontext.gregs[REG_R11] = (greg_t)thread->known.cursor;
    restore_signals(mask);
}
