/* signal.c: signal handlers in a trace.
 *
 * A handler's own records follow those of what it has interrupted. So a record that was interrupted
 * is either not begun, or complete: the thread is moved back in front of it, or what is left of its
 * code is done here, one instruction after the other. The code is as src/x86/trace_record.c writes
 * it.
 *
 * Not perfect: in the few instructions behind a call of quipu_trace_full, and where vectors are
 * stored into a record, the record cannot be completed. It is, once the handler has returned. If
 * the handler fills the whole buffer, that is handed over when the process ends. */
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"
#include "runtime/trace/trace.h"

enum {
    FRAME_BEGIN = 4, /* offset of pushq %rbp in quipu_trace_full */
    CALL_SIZE = 5,
};

extern const char quipu_trace_restorer[]; /* handler.S */

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

/* Returns the begin of the code movq (BASE), REG; leaq N(REG), REG; movq REG, (BASE), of which the
 * last instruction begins at STORE; or NULL. */
static const uint8_t *find_load(const uint8_t *store, unsigned *base, unsigned *reg) {
    unsigned other, same;
    if (!is_record_part(store, 0x89, 0, base, reg))
        return NULL;
    for (unsigned size = 1; size <= 4; size += 3) {
        const uint8_t *add = store - 3 - size;
        if (is_record_part(add, 0x8d, size, &other, &same) && other == *reg && same == *reg &&
            is_record_part(add - 3, 0x8b, 0, &other, &same) && other == *base && same == *reg)
            return add - 3;
    }
    return NULL;
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

/* Moves the thread back to LOAD if its cursor was loaded there, and returns whether. RESERVED: the
 * cursor was stored, too. */
static bool restart(greg_t *registers, struct thread *thread, const uint8_t *load, unsigned base,
                    bool reserved) {
    if (!load || (uint64_t)registers[context_registers[base]] != (uint64_t)thread)
        return false;
    if (thread->known.cursor & QUIPU_TRACE_FULL)
        thread->known.cursor = QUIPU_TRACE_FULL;
    else if (reserved)
        thread->known.cursor -= (uint64_t)displacement(load + 3 + 3, load[3 + 2]);
    registers[REG_RIP] = (greg_t)load;
    return true;
}

/* If the thread was interrupted in the code of a record in front of the record's head, moves it
 * back to the load of its cursor, and returns true. */
static bool restart_record(greg_t *registers, struct thread *thread) {
    const uint8_t *at = (const void *)registers[REG_RIP];
    unsigned base, reg;
    const uint8_t *stores[] = {at, at + 4, at + 7};
    for (int i = 0; i < 3; i++) { /* in front of the store, or of the addition */
        const uint8_t *load = find_load(stores[i], &base, &reg);
        if (load && load < at && restart(registers, thread, load, base, false))
            return true;
    }
    const uint8_t *tests[] = {at, at - 7, at - 6, at - 5};
    for (int i = 0; i < 4; i++) { /* in front of the test, or of the jump */
        unsigned size = test_size(tests[i]);
        const uint8_t *load =
            size && (i == 0 || tests[i] + size == at) ? find_load(tests[i] - 3, &base, &reg) : NULL;
        if (restart(registers, thread, load, base, true))
            return true;
    }
    return false;
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

/* Does the instruction if it is of a record that ends at the thread's cursor. */
static bool fill_in(greg_t *registers, const struct thread *thread, const struct filling *filling) {
    greg_t *reg = &registers[context_registers[filling->reg]];
    if (filling->opcode == 0x8d) {
        uint64_t from = filling->base == 4 ? (uint64_t)registers[REG_RSP] : (uint64_t)filling->end;
        *reg = (greg_t)(from + (uint64_t)(int64_t)filling->displacement);
        return true;
    }
    uint64_t cursor = (uint64_t)registers[context_registers[filling->base]];
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

/* Whether the instruction at CODE stores a vector or a mask to the thread's last record: movdqu,
 * vmovdqu, vmovdqu64 and kmov, as src/x86/trace_record.c writes them. */
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
           (uint64_t)registers[context_registers[base]] == thread->known.cursor;
}

/* The interrupted code still writes into the thread's buffer, when the handler with FRAME has
 * returned. */
static void hold(struct thread *thread, const void *frame) {
    if (!thread->held)
        thread->held = frame;
}

/* If the thread was interrupted while it filled in a record, does the rest of that. */
static void complete_record(greg_t *registers, struct thread *thread, const void *frame) {
    struct filling filling;
    const uint8_t *at = (const void *)registers[REG_RIP];
    if (stores_vector(at, registers, thread))
        hold(thread, frame);
    if (!decode_filling(at, &filling))
        return;
    /* An address alone may be the program's own. What follows it here writes to the record. */
    if (filling.opcode == 0x8d) {
        struct filling next;
        if (!decode_filling(filling.end, &next) || next.opcode != 0x89 || next.reg != filling.reg ||
            (uint64_t)registers[context_registers[next.base]] != thread->known.cursor)
            return;
    }
    while (decode_filling(at, &filling) && fill_in(registers, thread, &filling))
        at = filling.end;
    if (stores_vector(at, registers, thread))
        hold(thread, frame);
    registers[REG_RIP] = (greg_t)at;
}

/* Whether AT is behind a call of quipu_trace_full, in front of the jump back. */
static bool is_behind_full(const uint8_t *at) {
    static const uint8_t exchanges[] = {0, 2, 3, 4, 5, 6}; /* bytes of the instructions between */
    for (size_t i = 0; i < sizeof exchanges; i++) {
        const uint8_t *call = at - exchanges[i] - CALL_SIZE;
        if (call[0] == 0xe8 &&
            call + CALL_SIZE + displacement(call + 1, 0) == (const uint8_t *)quipu_trace_full)
            return true;
    }
    return false;
}

/* Makes sure that the thread's next record may follow. */
static void settle_record(greg_t *registers, struct thread *thread, const void *frame) {
    uint64_t at = (uint64_t)registers[REG_RIP];
    if (at == (uint64_t)quipu_trace_changed && !(thread->known.cursor & QUIPU_TRACE_FULL)) {
        thread->known.cursor -= ((const uint64_t *)registers[REG_RSP])[3]; /* see full.S */
        registers[REG_RIP] = (greg_t)quipu_trace_again;
    } else if ((at > (uint64_t)quipu_trace_changed && at < (uint64_t)quipu_trace_full_end) ||
               is_behind_full((const uint8_t *)at)) {
        hold(thread, frame);
    } else if (!restart_record(registers, thread)) {
        complete_record(registers, thread, frame);
    }
}

/* A function of code [begin, end), which has a frame and ends with its only return. */
struct framed {
    uint64_t begin, end;
};

static bool is_in(const struct framed *function, uint64_t at) {
    return at - function->begin < function->end - function->begin;
}

/* Whether AT is where %rbp is the function's own. */
static bool has_frame(const struct framed *function, uint64_t at) {
    return at - function->begin > FRAME_BEGIN + 1 && at != function->end - 1;
}

/* Returns the return address of a function in which a thread was interrupted. */
static uint64_t return_address(const greg_t *registers, const struct framed *function) {
    const uint64_t *stack = (const void *)registers[REG_RSP];
    uint64_t at = (uint64_t)registers[REG_RIP];
    if (has_frame(function, at))
        return ((const uint64_t *)registers[REG_RBP])[1];
    return stack[at - function->begin == FRAME_BEGIN + 1];
}

/* Returns the address at which the program itself was interrupted: if that is in quipu_trace_full,
 * the call of it while the record is not there yet, or else the instruction behind that call. In
 * quipu_trace_order it is that of the site, even if that function has called the other one. */
static uint64_t program_address(const ucontext_t *context) {
    const greg_t *registers = context->uc_mcontext.gregs;
    uint64_t at = (uint64_t)registers[REG_RIP];
    struct framed full = {(uint64_t)quipu_trace_full, (uint64_t)quipu_trace_full_end};
    struct framed order = {(uint64_t)quipu_trace_order, (uint64_t)quipu_trace_order_end};
    if (is_in(&order, at))
        return return_address(registers, &order);
    if (!is_in(&full, at))
        return at;
    uint64_t back = return_address(registers, &full);
    if (is_in(&order, back)) {
        const uint64_t *frame = (const void *)registers[REG_RBP];
        return has_frame(&full, at) ? ((const uint64_t *)frame[0])[1] : frame[1];
    }
    return at < (uint64_t)quipu_trace_changed ? back - CALL_SIZE : back;
}

char *quipu_trace_add_record(struct thread *thread, uint64_t size) {
    if ((thread->known.cursor + size) & QUIPU_TRACE_FULL) {
        thread->known.cursor = QUIPU_TRACE_FULL;
        return (char *)quipu_trace_continue(size, NULL) - size;
    }
    thread->known.cursor += size;
    return (char *)thread->known.cursor - size;
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
    settle_record(context->uc_mcontext.gregs, thread, context);
    char *record = quipu_trace_add_record(thread, QUIPU_TRACE_HANDLER_SIZE);
    record[0] = QUIPU_TRACE_HANDLER;
    put(record + 1, program_address(context));
    put(record + 9, (uint64_t)context - 8);
    ((uint64_t *)context)[-1] = (uint64_t)quipu_trace_restorer; /* the return address */
    restore_signals(mask);
}

void quipu_trace_resumed(const void *frame) {
    struct thread *thread = (struct thread *)*quipu_trace_own();
    uint64_t mask = block_signals();
    if (thread->held == frame)
        thread->held = NULL;
    *quipu_trace_add_record(thread, QUIPU_TRACE_RESUMED_SIZE) = QUIPU_TRACE_RESUMED;
    restore_signals(mask);
}
