/* sequence.c: the inserted instructions; see sequence.h.
 *
 * An increment is one instruction with an operand in memory, if possible. It is always the only
 * instruction that accesses the cell, so a signal handler between two instructions loses nothing.
 * Live flags are kept in %rax. If no register is free, registers are saved on the stack below the
 * red zone. */
#include "x86/sequence.h"

#include "format/cells.h"
#include "format/event.h"

#include <stdio.h>
#include <string.h>

static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

/* Before an instruction: its operand in memory has the longest form. */
#define LONG_OPERAND_PREFIX "{disp32} "

enum {
    RAX = 0,
    RCX = 1,
    R11 = 11,
    CHECK_SIZE = 6 /* jns */
};

/* Caller-saved registers. Those that compilers use last come first. */
const uint8_t base_candidates[BASE_CANDIDATES] = {11, 10, 9, 8, 1, 2, 6, 7, 0};

const char *register_name(int number) {
    return names[number];
}

void write_frame_change(struct buffer *out, const struct frame_row *frame) {
    if (frame->known)
        buffer_print(out, ".cfi_def_cfa %s, %lld; ", frame->base, (long long)frame->offset);
}

void write_frame(struct buffer *out, const struct frame_row *frame, int64_t pushed) {
    struct frame_row there = *frame;
    there.offset += frame->by_rsp ? pushed : 0;
    if (frame->known)
        buffer_text(out, ".cfi_remember_state; ");
    write_frame_change(out, &there);
}

void write_frame_end(struct buffer *out, const struct frame_row *frame) {
    if (frame->known)
        buffer_text(out, "; .cfi_restore_state");
}

static void begin_out_of_line(const struct code_context *context, struct buffer *out,
                              uint32_t label) {
    buffer_print(out, "; %s.LQs%u: ", context->line ? context->line : "", label);
}

void write_stub(const struct code_context *context, uint32_t label, const char *call,
                const char *jump, const struct load_place *place) {
    struct buffer *out = context->stubs;
    if (context->marks) {
        struct increment_mark mark = {.label = label, .out_of_line = true};
        vector_push(context->arena, context->marks, mark);
    }
    int below = place->at_entry ? 0 : RED_ZONE;
    begin_out_of_line(context, out, label);
    write_frame(out, &place->frame, 0);
    if (below)
        write_stack_move(out, &place->frame, -below);
    buffer_print(out, "%s; ", call);
    if (below)
        write_stack_move(out, &place->frame, below);
    buffer_print(out, "%s .LQr%u", jump, label);
    write_frame_end(out, &place->frame);
}

void write_adjust(struct buffer *out, const struct frame_row *frame, int pushed) {
    if (frame->known && frame->by_rsp)
        buffer_print(out, "; .cfi_adjust_cfa_offset %d", pushed);
}

static void write_step(struct buffer *out, const struct frame_row *frame, const char *instruction,
                       int pushed) {
    buffer_text(out, instruction);
    write_adjust(out, frame, pushed);
    buffer_text(out, "; ");
}

void write_push(struct buffer *out, const struct frame_row *frame, const char *instruction) {
    write_step(out, frame, instruction, 8);
}

void write_pop(struct buffer *out, const struct frame_row *frame, const char *instruction) {
    write_step(out, frame, instruction, -8);
}

void write_last_pop(struct buffer *out, const struct frame_row *frame, const char *instruction) {
    buffer_text(out, instruction);
    write_adjust(out, frame, -8);
}

void write_last_move(struct buffer *out, const struct frame_row *frame, int up) {
    buffer_print(out, "leaq %d(%%rsp), %%rsp", up);
    write_adjust(out, frame, -up);
}

void write_stack_move(struct buffer *out, const struct frame_row *frame, int up) {
    write_last_move(out, frame, up);
    buffer_text(out, "; ");
}

void write_runtime_call(struct buffer *out, const struct frame_row *frame, const char *function) {
    write_stack_move(out, frame, -RED_ZONE);
    buffer_print(out, "call %s; ", function);
    write_last_move(out, frame, RED_ZONE);
}

const char *stub_jump(const struct code_context *context) {
    return context->stubs_are_far ? LONG_JUMP_PREFIX : "";
}

/* A thread without cells gets them, and %gs then leads to them. */
static void write_check(struct buffer *out, const struct code_context *context,
                        const struct load_place *place) {
    uint32_t label = ++*context->labels;
    buffer_print(out, "cmpb $0, %%fs:quipu_bias@tpoff+7; %sjs .LQs%u; .LQr%u:", stub_jump(context),
                 label, label);
    write_stub(context, label, "call quipu_attach_segment", "jmp", place);
}

/* The linker's name for the address in the base register, which is QUIPU_BIAS behind the first
 * cell. */
static void write_home(struct buffer *out, const struct code_context *context) {
    if (context->space == CELLS_OF_EVENTS)
        buffer_text(out, "quipu_event_middle");
    else
        buffer_print(out, ".LQd%u", context->cells);
}

void write_load(struct buffer *out, const struct code_context *context, int base,
                const struct load_place *place) {
    if (base == BASE_SEGMENT) {
        write_check(out, context, place);
        return;
    }
    const char *reg = names[base];
    uint32_t label = ++*context->labels;
    buffer_print(out, "movq quipu_bias@gottpoff(%%rip), %%%s; movq %%fs:(%%%s), %%%s; addq ", reg,
                 reg, reg);
    write_home(out, context);
    buffer_print(out, "@GOTPCREL(%%rip), %%%s; %sjs .LQs%u; .LQr%u:", reg, stub_jump(context),
                 label, label);
    if (base == R11) {
        write_stub(context, label, "call quipu_attach", "jmp", place);
        return;
    }
    struct buffer call = {0}; /* quipu_attach uses %r11 */
    buffer_print(&call, "xchgq %%r11, %%%s; call quipu_attach; xchgq %%r11, %%%s", reg, reg);
    write_stub(context, label, call.data, "jmp", place);
    buffer_release(&call);
}

void write_signal_check(struct buffer *out, const struct code_context *context,
                        const struct frame_row *frame) {
    uint32_t label = ++*context->labels;
    buffer_text(out, "pushq %rax");
    write_adjust(out, frame, 8);
    buffer_text(out, "; leaq 16(%rsp), %rax; cmpq %rax, %rdx; popq %rax");
    write_adjust(out, frame, -8);
    buffer_print(out, "; jne .LQr%u; call quipu_signal_entry; .LQr%u:", label, label);
}

enum {
    CELL_SIZE = 64 /* of an operand's text */
};

/* The cell as an operand: by BASE, or relative to %gs. In that case register POINTER contains its
 * address, unless it is -1. */
static void spell_cell(char cell[CELL_SIZE], const struct code_context *context,
                       const struct increment *increment, int base, int pointer) {
    bool of_events = increment->space == CELLS_OF_EVENTS;
    int cell_number = (int)increment->cell - 1;
    if (of_events)
        cell_number = (int)quipu_first_cell(increment->cell - 1) + increment->lane;
    int offset = 8 * cell_number;
    if (base != BASE_SEGMENT)
        snprintf(cell, CELL_SIZE, "%d(%%%s)", offset - QUIPU_BIAS, names[base]);
    else if (pointer >= 0)
        snprintf(cell, CELL_SIZE, "%%gs:(%%%s)", names[pointer]);
    else if (of_events)
        snprintf(cell, CELL_SIZE, "%%gs:quipu_event_cells+%d(%%rip)", offset);
    else
        snprintf(cell, CELL_SIZE, "%%gs:.LQc%u+%d(%%rip)", context->cells, offset);
}

/* Sets POINTER to the address of the cell. */
static void write_pointer(struct buffer *out, const struct code_context *context,
                          const struct increment *increment, int pointer) {
    char cell[CELL_SIZE];
    spell_cell(cell, context, increment, BASE_SEGMENT, -1);
    buffer_print(out, "leaq %s, %%%s; ", cell + strlen("%gs:"), names[pointer]);
}

static void write_addition(struct buffer *out, const struct increment *increment,
                           const char *cell) {
    if (increment->turns)
        buffer_print(out, "%s %%rcx, %s", increment->amount > 0 ? "addq" : "subq", cell);
    else if (increment->amount == 1 || increment->amount == -1)
        buffer_print(out, "%s %s", increment->amount > 0 ? "incq" : "decq", cell);
    else
        buffer_print(out, "addq $%d, %s", increment->amount, cell);
}

/* A mark in OUT, behind CHANGE. NULL: nothing was changed. */
static void write_mark(struct buffer *out, const struct code_context *context,
                       const struct increment *change) {
    if (!context->marks || (change && change->space != CELLS_OF_EVENTS))
        return;
    struct increment_mark mark = {.label = ++*context->labels};
    if (change)
        mark.increment = *change;
    vector_push(context->arena, context->marks, mark);
    buffer_print(out, "; .LQi%u:", mark.label);
}

/* Whether a countdown may end here. It has ended when the cell of ticks is no longer negative. Each
 * cycle of the graph contains an addition of a positive amount, so only these are tested. */
static bool ends_countdown(const struct increment *increment) {
    return increment->space == CELLS_OF_EVENTS && increment->cell == 1 + QUIPU_EVENT_TICKS &&
           increment->amount > 0;
}

static void write_countdown_check(struct buffer *out, const struct code_context *context,
                                  const struct frame_row *frame) {
    uint32_t label = ++*context->labels;
    buffer_print(out, "; %sjns .LQs%u; .LQr%u:", stub_jump(context), label, label);
    /* The runtime finds the test by this jump, even while a breakpoint hides its first byte. */
    write_stub(context, label, "call quipu_end_countdown", LONG_JUMP_PREFIX "jmp",
               &(struct load_place){.frame = *frame});
}

/* An addition whose test is left out until there is a countdown. The test is out of line, with a
 * copy of the addition (format/moment.h). The addition must be as long as a jump, which replaces
 * it. */
static void write_tested_addition(struct buffer *out, const struct code_context *context,
                                  const struct increment *increment, const char *cell,
                                  const struct frame_row *frame) {
    uint32_t label = ++*context->labels;
    struct buffer *test = context->tests;
    if (context->marks) {
        struct increment_mark mark = {.label = label, .out_of_line = true, .tests = true};
        vector_push(context->arena, context->marks, mark);
    }
    begin_out_of_line(context, test, label);
    write_frame(test, frame, 0);
    buffer_text(test, LONG_OPERAND_PREFIX);
    write_addition(test, increment, cell);
    write_mark(test, context, increment);
    buffer_print(test, "; " LONG_JUMP_PREFIX "js .LQr%u; ", label);
    write_runtime_call(test, frame, "quipu_end_countdown");
    buffer_print(test, "; " LONG_JUMP_PREFIX "jmp .LQr%u", label);
    write_frame_end(test, frame);
    buffer_print(out, ".LQt%u: " LONG_OPERAND_PREFIX, label);
    write_addition(out, increment, cell);
    write_mark(out, context, NULL);
    buffer_print(out, "; .LQr%u:", label);
}

void write_test_row(struct buffer *out, uint32_t label) {
    buffer_print(out, "\t.long .LQt%u-., .LQs%u-., .LQr%u-.\n", label, label, label);
}

/* One addition after the other. FRAME is the unwinder's row. */
static void write_plain(struct buffer *out, const struct code_context *context,
                        const increment_list *increments, int base, const struct frame_row *frame,
                        int pointer) {
    for (size_t i = 0; i < increments->count; i++) {
        const struct increment *increment = &increments->data[i];
        char cell[CELL_SIZE];
        spell_cell(cell, context, increment, base, pointer);
        if (i)
            buffer_text(out, "; ");
        if (pointer >= 0)
            write_pointer(out, context, increment, pointer);
        if (ends_countdown(increment) && base == BASE_SEGMENT) {
            write_tested_addition(out, context, increment, cell, frame);
            continue;
        }
        write_addition(out, increment, cell);
        write_mark(out, context, increment);
        if (ends_countdown(increment))
            write_countdown_check(out, context, frame);
    }
}

uint8_t changed_flags(const increment_list *increments) {
    for (size_t i = 0; i < increments->count; i++)
        if (increments->data[i].turns ||
            (increments->data[i].amount != 1 && increments->data[i].amount != -1))
            return FLAGS_ALL;
    return FLAGS_ALL & ~FLAG_CARRY;
}

uint32_t increments_size(const increment_list *increments, int base) {
    uint32_t size = 0;
    for (size_t i = 0; i < increments->count; i++) {
        int32_t amount = increments->data[i].amount;
        size += base == BASE_SEGMENT ? 8 : 4;
        if (amount != 1 && amount != -1)
            size += amount >= -128 && amount < 128 ? 1 : 4;
        if (ends_countdown(&increments->data[i]) && base != BASE_SEGMENT)
            size += CHECK_SIZE;
    }
    return size;
}

int find_scratch(uint16_t free, int not ) {
    for (int i = 0; i < BASE_CANDIDATES; i++) {
        int candidate = base_candidates[i];
        if (candidate != RAX && candidate != not &&(free >> candidate & 1))
            return candidate;
    }
    return -1;
}

/* The base leads to the cells, and flags are live. */
static void write_keeping_flags(struct buffer *out, const struct code_context *context,
                                const increment_list *increments, const struct clobbers *clobbers) {
    bool rax_free = clobbers->free >> RAX & 1;
    int scratch = find_scratch(clobbers->free, clobbers->base);
    struct frame_row below = clobbers->frame;
    below.offset += below.by_rsp ? RED_ZONE + 8 : 0;
    if (clobbers->base == RAX) { /* flags can only be saved on the stack */
        write_stack_move(out, &clobbers->frame, -RED_ZONE);
        write_push(out, &clobbers->frame, "pushfq");
        write_plain(out, context, increments, clobbers->base, &below, -1);
        buffer_text(out, "; ");
        write_pop(out, &clobbers->frame, "popfq");
        write_last_move(out, &clobbers->frame, RED_ZONE);
    } else if (rax_free || scratch >= 0) {
        if (!rax_free)
            buffer_print(out, "movq %%rax, %%%s; ", names[scratch]);
        buffer_text(out, SAVE_FLAGS);
        write_plain(out, context, increments, clobbers->base, &clobbers->frame, -1);
        buffer_text(out, RESTORE_FLAGS);
        if (!rax_free)
            buffer_print(out, "; movq %%%s, %%rax", names[scratch]);
    } else {
        write_stack_move(out, &clobbers->frame, -RED_ZONE);
        write_push(out, &clobbers->frame, "pushq %rax");
        buffer_text(out, SAVE_FLAGS);
        write_plain(out, context, increments, clobbers->base, &below, -1);
        buffer_text(out, RESTORE_FLAGS "; ");
        write_pop(out, &clobbers->frame, "popq %rax");
        write_last_move(out, &clobbers->frame, RED_ZONE);
    }
}

/* No register is free: saves all on the stack. */
static void write_spilling(struct buffer *out, const struct code_context *context,
                           const increment_list *increments, const struct clobbers *clobbers) {
    struct load_place below = {.frame = clobbers->frame};
    below.frame.offset += below.frame.by_rsp ? RED_ZONE + 16 : 0;
    write_stack_move(out, &clobbers->frame, -RED_ZONE);
    write_push(out, &clobbers->frame, "pushq %r11");
    write_push(out, &clobbers->frame, "pushq %rax");
    buffer_text(out, SAVE_FLAGS);
    int base = clobbers->base == BASE_SEGMENT ? BASE_SEGMENT : R11;
    write_load(out, context, base, &below);
    buffer_text(out, " ");
    write_plain(out, context, increments, base, &below.frame, -1);
    buffer_text(out, RESTORE_FLAGS "; ");
    write_pop(out, &clobbers->frame, "popq %rax");
    write_pop(out, &clobbers->frame, "popq %r11");
    write_last_move(out, &clobbers->frame, RED_ZONE);
}

/* On Zen 4, an addition to a cell can follow another one after six cycles if the address is
 * relative to the instruction, and after one cycle if it is in a register. Other processors were
 * not measured. About so many instructions run in six cycles. */
enum {
    SHORT_CYCLE = 24
};

/* Returns the register for the cells' addresses, or -1 if they are relative. */
static int choose_pointer(const struct clobbers *clobbers) {
    bool soon_again = clobbers->cycle && clobbers->cycle <= SHORT_CYCLE;
    return soon_again && clobbers->base == BASE_SEGMENT ? find_scratch(clobbers->free, -1) : -1;
}

/* All additions to cells that the base leads to. */
static void write_near(struct buffer *out, const struct code_context *context,
                       const increment_list *increments, const struct clobbers *clobbers) {
    if (clobbers->base_holds) {
        if (clobbers->flags_free ||
            (clobbers->flags_but_carry && !(changed_flags(increments) & FLAG_CARRY)))
            write_plain(out, context, increments, clobbers->base, &clobbers->frame,
                        choose_pointer(clobbers));
        else
            write_keeping_flags(out, context, increments, clobbers);
        return;
    }
    int base = clobbers->base_free ? clobbers->base : find_scratch(clobbers->free, -1);
    if (base < 0 && (clobbers->free >> RAX & 1))
        base = RAX;
    if (base < 0 || !clobbers->flags_free) {
        write_spilling(out, context, increments, clobbers);
        return;
    }
    write_load(out, context, base, &(struct load_place){.frame = clobbers->frame});
    buffer_text(out, " ");
    write_plain(out, context, increments, base, &clobbers->frame, -1);
}

/* Returns the additions to cells of SPACE. */
static increment_list select_space(const struct code_context *context,
                                   const increment_list *increments, enum cell_space space) {
    increment_list selected = {0};
    for (size_t i = 0; i < increments->count; i++)
        if (increments->data[i].space == space)
            vector_push(context->arena, &selected, increments->data[i]);
    return selected;
}

/* Returns what may be changed at INCREMENTS: not %rcx if it is added. */
static struct clobbers keep_turns(const struct clobbers *clobbers,
                                  const increment_list *increments) {
    struct clobbers kept = *clobbers;
    for (size_t i = 0; i < increments->count; i++)
        if (increments->data[i].turns) {
            kept.free &= (uint16_t) ~(1u << RCX);
            kept.base_free &= kept.base != RCX;
        }
    return kept;
}

bool increments_load(const struct code_context *context, const increment_list *increments,
                     int base) {
    struct clobbers all_free = {.base = base, .base_free = true};
    bool near = base == BASE_SEGMENT && increments->count;
    for (size_t i = 0; i < increments->count; i++)
        near |= increments->data[i].space == context->space;
    return near && keep_turns(&all_free, increments).base_free;
}

void write_increments(struct buffer *out, const struct code_context *context,
                      const increment_list *increments, const struct clobbers *given) {
    struct clobbers kept = keep_turns(given, increments);
    const struct clobbers *clobbers = &kept;
    if (clobbers->base == BASE_SEGMENT) { /* it leads to all cells */
        write_near(out, context, increments, clobbers);
        return;
    }
    enum cell_space other = context->space == CELLS_OF_EVENTS ? CELLS_OF_FUNCTION : CELLS_OF_EVENTS;
    increment_list near = select_space(context, increments, context->space);
    increment_list far = select_space(context, increments, other);
    if (near.count)
        write_near(out, context, &near, clobbers);
    if (near.count && far.count)
        buffer_text(out, "; ");
    if (!far.count)
        return;
    struct code_context there = *context;
    struct clobbers elsewhere = *clobbers;
    there.space = other;
    elsewhere.base_holds = elsewhere.base_free = false;
    write_near(out, &there, &far, &elsewhere);
}

void write_cells(struct buffer *out, uint32_t label, uint32_t count) {
    buffer_print(out, "\t.balign 8\n.LQc%u:\n\t.skip %u\n\t.set .LQd%u, .LQc%u+%d\n", label,
                 8 * count, label, label, QUIPU_BIAS);
}

const char *inverted_condition(const char *mnemonic, size_t count) {
    static const char *const pairs[][2] = {
        {"jo", "jno"},  {"jb", "jnb"},   {"jc", "jnc"},   {"jnae", "jae"}, {"jz", "jnz"},
        {"je", "jne"},  {"jbe", "jnbe"}, {"jna", "ja"},   {"js", "jns"},   {"jp", "jnp"},
        {"jpe", "jpo"}, {"jl", "jnl"},   {"jnge", "jge"}, {"jle", "jnle"}, {"jng", "jg"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int side = 0; side < 2; side++)
            if (strlen(pairs[i][side]) == count && memcmp(pairs[i][side], mnemonic, count) == 0)
                return pairs[i][!side];
    return NULL;
}
