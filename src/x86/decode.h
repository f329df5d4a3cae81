/* decode.h: what an instruction does, according to its bytes. Only this folder uses Zydis.
 *
 * The rest of the toolkit sees registers as bits of a mask, flags as bits of a byte, and a branch
 * as one of a few classes. */
#ifndef QUIPU_X86_DECODE_H
#define QUIPU_X86_DECODE_H

#include "x86/access.h"
#include "x86/computation.h"
#include "x86/linear.h"
#include "x86/transfer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets of general registers. Bit n is the register that instructions encode as n. */
enum {
    REGISTER_RAX = 1 << 0,
    REGISTER_RCX = 1 << 1,
    REGISTER_RDX = 1 << 2,
    REGISTER_RBX = 1 << 3,
    REGISTER_RSP = 1 << 4,
    REGISTER_RBP = 1 << 5,
    REGISTER_RSI = 1 << 6,
    REGISTER_RDI = 1 << 7,
    REGISTER_R8 = 1 << 8,
    REGISTER_R9 = 1 << 9,
    REGISTER_R10 = 1 << 10,
    REGISTER_R11 = 1 << 11,
    REGISTER_R12 = 1 << 12,
    REGISTER_R13 = 1 << 13,
    REGISTER_R14 = 1 << 14,
    REGISTER_R15 = 1 << 15,
    REGISTERS_ALL = 0xffff,
};

/* Numbers of registers, as encoded. */
enum {
    STACK_POINTER = 4,
    FRAME_POINTER = 5,
    GENERAL_REGISTERS = 16
};

enum {
    RED_ZONE = 128 /* bytes below the stack pointer that functions may use */
};

/* Sets of status flags. */
enum {
    FLAG_CARRY = 1 << 0,
    FLAG_PARITY = 1 << 1,
    FLAG_ADJUST = 1 << 2,
    FLAG_ZERO = 1 << 3,
    FLAG_SIGN = 1 << 4,
    FLAG_OVERFLOW = 1 << 5,
    FLAGS_ALL = 0x3f,
};

enum instruction_class {
    CLASS_PLAIN,            /* continues behind itself */
    CLASS_JUMP,             /* direct jump */
    CLASS_JUMP_INDIRECT,    /* through a register or memory */
    CLASS_CONDITIONAL,      /* conditional jump, any reach */
    CLASS_CONDITIONAL_NEAR, /* loop, jrcxz: its target must be within 128 bytes */
    CLASS_CALL,             /* direct call */
    CLASS_CALL_INDIRECT,    /* through a register or memory */
    CLASS_RETURN,           /* return, also from an interrupt */
    CLASS_STOP,             /* does not continue: undefined, halt */
    CLASS_SYSTEM,           /* enters the kernel: may not return, may return twice */
    CLASS_TRANSACTION,      /* xbegin: continues behind itself or, on abort, at its target */
};

static inline bool is_call_class(uint8_t class) {
    return class == CLASS_CALL || class == CLASS_CALL_INDIRECT;
}

/* How often a string instruction with a repeat prefix runs: once for each decrement of %rcx. */
enum turns {
    TURNS_ONE, /* not such an instruction; or it counts in %ecx, which is not used in practice */
    TURNS_ALL, /* until %rcx is 0 */
    TURNS_SOME /* until %rcx is 0, or a comparison ends it */
};

/* System calls behind which control never continues. */
enum asked_call {
    ASKED_ANY,         /* no number, or another one */
    ASKED_HANDLER_END, /* rt_sigreturn */
    ASKED_THREAD_END   /* exit */
};

enum {
    LOADS_MAX = 2 /* of one instruction: cmps has two */
};

/* The spelling of an instruction, for instruction_names. */
struct spelling {
    uint16_t mnemonic; /* Zydis's number */
    uint8_t prefix;    /* index of a list in names.c; 0: none */
    bool string;       /* the mnemonic's last letter is the size */
    bool wide;         /* movabs */
    bool sized;        /* never written without its size */
    char size[3];      /* letters of its operands' sizes, or "" */
};

struct decoded {
    uint8_t size; /* bytes */
    uint8_t class;
    uint8_t flags_read;
    uint8_t flags_written;      /* set, cleared or left undefined: the old value is lost */
    uint16_t registers_read;    /* any part of it; explicit, implicit or in an address */
    uint16_t registers_written; /* any part of it, always or on a condition */
    uint16_t registers_killed;  /* of those: the whole old value is lost */
    uint16_t zero_extended; /* of those: 32 bits are always written, and the upper half becomes 0 */
    uint16_t sign_extended; /* ... or at most 32 bits are written, extended by the sign */
    uint16_t addressing;    /* registers in the addresses of what it reads or writes */
    /* the register that it sets to a number or address in its text, with nothing added; or 0 */
    uint16_t address_to;
    bool stores; /* writes memory by an explicit operand */
    /* may trap because of its operands: memory not relative to the stack pointer, or a division */
    bool traps;
    /* may raise a signal: it traps, or not every processor has it, or not every program may use
     * it */
    bool faults;
    /* the stack pointer gets a value that derives neither from itself nor from the frame pointer */
    bool switches_stack;
    bool selects;      /* a conditional move */
    uint8_t asks;      /* enum asked_call: the call whose number it puts into %rax */
    bool aligns_stack; /* `and` of the stack pointer with a number */
    bool steps;        /* adds a constant to a general register */
    /* a string instruction with a repeat prefix: counts as one execution */
    bool repeats;
    uint8_t turns;     /* enum turns */
    bool floating;     /* computes in floating point: arithmetic, comparison, conversion */
    bool vector;       /* works on several elements of a vector register, or on a mask register */
    bool atomic;       /* locked, or xchg with memory */
    uint8_t condition; /* of CLASS_CONDITIONAL, as encoded */
    struct linear linear;
    struct transfer transfer;
    struct computation computation;
    /* Operands in memory, including implicit ones: push stores, ret loads. One that is read and
     * written is in both. */
    struct access store; /* kind ACCESS_NONE: it has none */
    struct access loads[LOADS_MAX];
    uint8_t load_count;
    struct spelling spelling;
};

static inline bool writes_memory(const struct decoded *decoded) {
    return decoded->store.kind != ACCESS_NONE;
}

/* Whether it is a no-operation, of any length. */
bool is_no_operation(const struct decoded *decoded);

/* Whether it may follow a jump without ever being executed: a no-operation, a trap, a fence. */
bool is_filling(const struct decoded *decoded);

enum {
    DIRECT_CALL_SIZE = 5
};

/* Whether the COUNT bytes at CODE begin with a direct call of DIRECT_CALL_SIZE bytes. */
bool is_direct_call(const uint8_t *code, size_t count);

/* Whether it orders all loads and stores in front of it with all those behind it. */
bool is_fence(const struct decoded *decoded);

/* Whether it makes the system call whose number is in %rax. */
bool is_syscall(const struct decoded *decoded);

/* Decodes the instruction at the start of the COUNT bytes at CODE. Returns false if there is
 * none. */
bool decode_instruction(const uint8_t *code, size_t count, struct decoded *decoded);

/* AT&T names of one instruction: "lock xaddl", "lock xadd", "xaddl", "xadd". */
enum {
    INSTRUCTION_NAME_MAX = 64
};
struct instruction_names {
    uint32_t count;
    char of[4][INSTRUCTION_NAME_MAX];
};

/* Returns the mnemonic as objdump writes it: with and without its prefix (lock, rep, repz, repnz),
 * and with and without the letter of its operands' size. */
struct instruction_names instruction_names(const struct decoded *decoded);

/* Returns the distance to the target of the direct jump at CODE, from the instruction behind it. */
int64_t jump_distance(const uint8_t *code);

/* Inverts the condition of the conditional jump of COUNT bytes at CODE. */
void invert_conditional(uint8_t *code, size_t count);

/* Names an address in a disassembly: writes at most SIZE bytes to TEXT, such as "foo+0x10". Returns
 * false if it has no name. */
typedef bool name_address(void *context, uint64_t address, char *text, size_t size);

/* Writes the instruction at CODE, which runs at ADDRESS, to TEXT in AT&T syntax. NAME may be NULL.
 * Returns false if there is no instruction, or SIZE is too small. */
bool disassemble_instruction(const uint8_t *code, size_t count, uint64_t address, char *text,
                             size_t size, name_address *name, void *context);

#endif
