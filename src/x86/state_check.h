/* state_check.h: code that compares the state of a thread at an instruction with a wanted one, each
 * time that the thread comes there, and stops it where both are the same.
 *
 * The instruction becomes a jump to the code, which is elsewhere in the memory of the process, as
 * the instructions are that gave room to the jump. It compares one value, the quick one, which is
 * another at most passes. If that is the same, it compares all general registers, some words of the
 * stack, those of the x87, parts of the vector registers, and words anywhere. It changes no memory
 * but its own data, and no register or flag. */
#ifndef QUIPU_X86_STATE_CHECK_H
#define QUIPU_X86_STATE_CHECK_H

#include "x86/moved_code.h"
#include "x86/registers.h"

enum {
    CHECK_STACK_MAX = 96, /* words of the stack */
    CHECK_WORDS_MAX = 64,
    CHECK_VECTORS = 16, /* vector registers */
    CHECK_VECTOR_BYTES = 16,
    CHECK_FLOATS = 8, /* registers of the x87 */
    CHECK_AREA = 512, /* bytes that fxsave stores */
    CHECK_CODE_MAX = 1024
};

struct checked_word {
    uint64_t address, value;
};

/* Where the quick value is. */
enum quick_kind {
    QUICK_REGISTER, /* the general register that instructions encode as `place` */
    QUICK_STACK,    /* the word `place` words above that of checked_stack */
    QUICK_WORD,     /* the word at the address `place` */
    QUICK_KINDS
};

struct quick_value {
    uint8_t kind; /* enum quick_kind */
    uint64_t place;
};

/* The data of the code, in the memory of the process. */
struct state_check_data {
    uint64_t saved[5]; /* registers and flags */
    uint64_t quick[2]; /* minus the quick value; its address, if it is a word anywhere */
    uint64_t general[16];
    uint64_t stack_count, stack[CHECK_STACK_MAX]; /* at least one word, from below the red zone */
    uint8_t vectors[CHECK_VECTORS][CHECK_VECTOR_BYTES];
    uint64_t float_count; /* words of those that are in use, two each */
    uint8_t floats[CHECK_FLOATS][CHECK_VECTOR_BYTES];
    uint64_t word_count;
    struct checked_word words[CHECK_WORDS_MAX];
    _Alignas(16) uint8_t area[CHECK_AREA]; /* registers, as the thread has them */
};

/* Where the code is. */
struct state_check {
    uint64_t address; /* of the instruction */
    uint64_t code, data;
    struct quick_value quick;
    uint8_t size; /* bytes that are moved */
    uint8_t bytes[MOVED_MAX];
    /* These are set by write_state_check. */
    uint64_t found; /* the address behind the breakpoint that stops the thread */
    uint64_t moved; /* the address of the moved instructions */
};

/* Sets DATA to the state with these registers and no words: the values are to be set, and as many
 * words of the stack as there are to compare. */
void set_checked_registers(struct state_check_data *data, const struct registers *registers);

/* Sets what is compared first. DATA has the rest. Returns false if there is no such value. */
bool set_quick_value(struct state_check_data *data, const struct quick_value *quick);

/* Returns the address of the first word of the stack that is compared. */
uint64_t checked_stack(const struct user_regs_struct *registers);

/* Writes the code to CODE, and the jump to it to JUMP. Returns false if it is too far away. */
bool write_state_check(struct state_check *check, uint8_t code[CHECK_CODE_MAX],
                       uint8_t jump[LONG_JUMP_SIZE]);

/* Returns the address in the program's own text of an instruction at ADDRESS, which is one of those
 * that were moved, or the one behind them; 0 if it is elsewhere. */
uint64_t unmoved_address(const struct state_check *check, uint64_t address);

/* Returns the value of %rcx in the program where the code is stopped because the quick value cannot
 * be read. */
uint64_t checked_counter(const struct state_check_data *data);

/* Whether ADDRESS is in the code. */
bool is_in_check(const struct state_check *check, uint64_t address);

#endif
