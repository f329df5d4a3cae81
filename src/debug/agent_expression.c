/* agent_expression.c: see agent_expression.h.
 *
 * Not perfect: values are integers of 64 bits. What a debugger would only trace, print or keep in
 * variables of its own, and floating point, which gdb does not compile, is refused. */
#include "debug/agent_expression.h"

#include <string.h>

enum opcode {
    OP_ADD = 0x02,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE_SIGNED,
    OP_DIVIDE_UNSIGNED,
    OP_REMAINDER_SIGNED,
    OP_REMAINDER_UNSIGNED,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT_SIGNED,
    OP_SHIFT_RIGHT_UNSIGNED,
    OP_LOGICAL_NOT = 0x0e,
    OP_AND,
    OP_OR,
    OP_EXCLUSIVE_OR,
    OP_NOT,
    OP_EQUAL,
    OP_LESS_SIGNED,
    OP_LESS_UNSIGNED,
    OP_EXTEND_SIGN,
    OP_LOAD_8,
    OP_LOAD_16,
    OP_LOAD_32,
    OP_LOAD_64,
    OP_JUMP_IF = 0x20,
    OP_JUMP,
    OP_CONSTANT_8,
    OP_CONSTANT_16,
    OP_CONSTANT_32,
    OP_CONSTANT_64,
    OP_REGISTER,
    OP_END,
    OP_COPY,
    OP_DROP,
    OP_EXTEND_ZERO,
    OP_SWAP,
    OP_PICK = 0x32,
    OP_ROTATE,
    OPCODES
};

enum {
    BITS = 64,
    UNKNOWN = -1 /* a depth */
};

/* What the verifier has to know; an opcode without a name is refused. */
static const struct {
    const char *name; /* gdb's */
    uint8_t operand;  /* bytes behind it */
    uint8_t pops, pushes;
} opcodes[OPCODES] = {
    [OP_ADD] = {"add", 0, 2, 1},
    [OP_SUBTRACT] = {"sub", 0, 2, 1},
    [OP_MULTIPLY] = {"mul", 0, 2, 1},
    [OP_DIVIDE_SIGNED] = {"div_signed", 0, 2, 1},
    [OP_DIVIDE_UNSIGNED] = {"div_unsigned", 0, 2, 1},
    [OP_REMAINDER_SIGNED] = {"rem_signed", 0, 2, 1},
    [OP_REMAINDER_UNSIGNED] = {"rem_unsigned", 0, 2, 1},
    [OP_SHIFT_LEFT] = {"lsh", 0, 2, 1},
    [OP_SHIFT_RIGHT_SIGNED] = {"rsh_signed", 0, 2, 1},
    [OP_SHIFT_RIGHT_UNSIGNED] = {"rsh_unsigned", 0, 2, 1},
    [OP_LOGICAL_NOT] = {"log_not", 0, 1, 1},
    [OP_AND] = {"bit_and", 0, 2, 1},
    [OP_OR] = {"bit_or", 0, 2, 1},
    [OP_EXCLUSIVE_OR] = {"bit_xor", 0, 2, 1},
    [OP_NOT] = {"bit_not", 0, 1, 1},
    [OP_EQUAL] = {"equal", 0, 2, 1},
    [OP_LESS_SIGNED] = {"less_signed", 0, 2, 1},
    [OP_LESS_UNSIGNED] = {"less_unsigned", 0, 2, 1},
    [OP_EXTEND_SIGN] = {"ext", 1, 1, 1},
    [OP_LOAD_8] = {"ref8", 0, 1, 1},
    [OP_LOAD_16] = {"ref16", 0, 1, 1},
    [OP_LOAD_32] = {"ref32", 0, 1, 1},
    [OP_LOAD_64] = {"ref64", 0, 1, 1},
    [OP_JUMP_IF] = {"if_goto", 2, 1, 0},
    [OP_JUMP] = {"goto", 2, 0, 0},
    [OP_CONSTANT_8] = {"const8", 1, 0, 1},
    [OP_CONSTANT_16] = {"const16", 2, 0, 1},
    [OP_CONSTANT_32] = {"const32", 4, 0, 1},
    [OP_CONSTANT_64] = {"const64", 8, 0, 1},
    [OP_REGISTER] = {"reg", 2, 0, 1},
    [OP_END] = {"end", 0, 1, 1},
    [OP_COPY] = {"dup", 0, 1, 2},
    [OP_DROP] = {"pop", 0, 1, 0},
    [OP_EXTEND_ZERO] = {"zero_ext", 1, 1, 1},
    [OP_SWAP] = {"swap", 0, 2, 2},
    [OP_PICK] = {"pick", 1, 0, 1}, /* and as many values as it looks over */
    [OP_ROTATE] = {"rot", 0, 3, 3},
};

/* Returns the operand of SIZE bytes, most significant one first. */
static uint64_t operand_at(const uint8_t *code, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | code[i];
    return value;
}

/* ---- verification ---- */

/* Whether OPCODE may have that OPERAND, at a stack of DEPTH values. */
static bool is_good_operand(enum opcode opcode, uint64_t operand, int depth) {
    switch (opcode) {
    case OP_EXTEND_SIGN:
    case OP_EXTEND_ZERO:
        return operand >= 1 && operand <= BITS;
    case OP_PICK:
        return operand < (uint64_t)depth;
    default:
        return true;
    }
}

/* A jump to TARGET is behind the bytecode that ends at NEXT, with a stack of DEPTH values. Notes
 * that in DEPTHS. Returns false if another way leads there with another depth, or it is not in the
 * program. */
static bool note_jump(int16_t *depths, size_t size, size_t next, uint64_t target, int depth) {
    if (target < next || target >= size || (depths[target] != UNKNOWN && depths[target] != depth))
        return false;
    depths[target] = (int16_t)depth;
    return true;
}

bool agent_verify(const uint8_t *code, size_t size) {
    static int16_t depths[AGENT_SIZE_MOST]; /* in front of each byte, as far as jumps lead there */
    size_t at = 0, farthest = 0;
    int depth = 0; /* UNKNOWN: nothing leads here but a jump */
    if (size > AGENT_SIZE_MOST)
        return false;
    memset(depths, UNKNOWN, size * sizeof *depths);
    while (at < size) {
        enum opcode opcode = code[at];
        if (depth != UNKNOWN && !note_jump(depths, size, at, at, depth))
            return false;
        depth = depths[at];
        if (depth == UNKNOWN || opcode >= OPCODES || !opcodes[opcode].name)
            return false; /* never come to, or not known */
        size_t next = at + 1 + opcodes[opcode].operand;
        for (size_t i = at + 1; i < next; i++)
            if (i >= size || depths[i] != UNKNOWN)
                return false; /* cut, or a jump leads into it */
        uint64_t operand = operand_at(code + at + 1, opcodes[opcode].operand);
        if (depth < opcodes[opcode].pops || !is_good_operand(opcode, operand, depth))
            return false;
        depth += opcodes[opcode].pushes - opcodes[opcode].pops;
        if (depth > AGENT_STACK_MOST)
            return false;
        if (opcode == OP_JUMP || opcode == OP_JUMP_IF) {
            if (!note_jump(depths, size, next, operand, depth))
                return false;
            farthest = operand > farthest ? operand : farthest;
        }
        if (opcode == OP_JUMP || opcode == OP_END)
            depth = UNKNOWN;
        if (opcode == OP_END && next > farthest)
            return true;
        at = next;
    }
    return false;
}

/* ---- evaluation ---- */

struct machine {
    const uint8_t *code;
    size_t at; /* of the next bytecode */
    uint64_t stack[AGENT_STACK_MOST + 1];
    size_t depth;
};

static uint64_t shift_right_signed(uint64_t value, uint64_t count) {
    uint64_t sign = value >> (BITS - 1) ? UINT64_MAX : 0;
    if (count == 0)
        return value;
    return count < BITS ? value >> count | sign << (BITS - count) : sign;
}

static uint64_t extend_sign(uint64_t value, uint64_t bits) {
    uint64_t others = (BITS - bits) % BITS;
    return shift_right_signed(value << others, others);
}

/* The greatest negative number has no counterpart: by -1, the processor's division would trap. */
static uint64_t divide_signed(uint64_t first, uint64_t second) {
    return second == UINT64_MAX ? -first : (uint64_t)((int64_t)first / (int64_t)second);
}

static uint64_t remainder_signed(uint64_t first, uint64_t second) {
    return second == UINT64_MAX ? 0 : (uint64_t)((int64_t)first % (int64_t)second);
}

/* Returns the value of a bytecode that takes two and leaves one; SECOND was on the top. It is no
 * zero for a division. */
static uint64_t combine(enum opcode opcode, uint64_t first, uint64_t second) {
    switch (opcode) {
    case OP_ADD:
        return first + second;
    case OP_SUBTRACT:
        return first - second;
    case OP_MULTIPLY:
        return first * second;
    case OP_DIVIDE_SIGNED:
        return divide_signed(first, second);
    case OP_DIVIDE_UNSIGNED:
        return first / second;
    case OP_REMAINDER_SIGNED:
        return remainder_signed(first, second);
    case OP_REMAINDER_UNSIGNED:
        return first % second;
    case OP_SHIFT_LEFT:
        return second < BITS ? first << second : 0;
    case OP_SHIFT_RIGHT_SIGNED:
        return shift_right_signed(first, second);
    case OP_SHIFT_RIGHT_UNSIGNED:
        return second < BITS ? first >> second : 0;
    case OP_AND:
        return first & second;
    case OP_OR:
        return first | second;
    case OP_EXCLUSIVE_OR:
        return first ^ second;
    case OP_EQUAL:
        return first == second;
    case OP_LESS_SIGNED:
        return (int64_t)first < (int64_t)second;
    default: /* OP_LESS_UNSIGNED */
        return first < second;
    }
}

static bool divides(enum opcode opcode) {
    return opcode >= OP_DIVIDE_SIGNED && opcode <= OP_REMAINDER_UNSIGNED;
}

static bool load(const struct agent_context *context, uint64_t *top, size_t size) {
    uint64_t value = 0; /* little-endian, as the processor */
    if (!context->read_memory(context->context, *top, &value, size))
        return false;
    *top = value;
    return true;
}

static void rotate(uint64_t *third) {
    uint64_t top = third[2];
    third[2] = third[1];
    third[1] = third[0];
    third[0] = top;
}

/* Executes a bytecode that takes one value, or none, or has an operand. TOP is the value on the top
 * of the stack, if there is one. Returns false if it fails. */
static bool execute(struct machine *machine, const struct agent_context *context,
                    enum opcode opcode, uint64_t operand) {
    uint64_t *top = machine->stack + machine->depth, copy;
    switch (opcode) {
    case OP_LOGICAL_NOT:
        *top = !*top;
        return true;
    case OP_NOT:
        *top = ~*top;
        return true;
    case OP_EXTEND_SIGN:
        *top = extend_sign(*top, operand);
        return true;
    case OP_EXTEND_ZERO:
        operand = (BITS - operand) % BITS;
        *top = *top << operand >> operand;
        return true;
    case OP_LOAD_8:
    case OP_LOAD_16:
    case OP_LOAD_32:
    case OP_LOAD_64:
        return load(context, top, (size_t)1 << (opcode - OP_LOAD_8));
    case OP_JUMP_IF:
        machine->depth--;
        machine->at = *top ? (size_t)operand : machine->at;
        return true;
    case OP_JUMP:
        machine->at = (size_t)operand;
        return true;
    case OP_REGISTER:
        machine->depth++;
        return context->read_register(context->context, (unsigned)operand, top + 1);
    case OP_COPY:
        machine->stack[++machine->depth] = *top;
        return true;
    case OP_PICK:
        copy = top[-(ptrdiff_t)operand];
        machine->stack[++machine->depth] = copy;
        return true;
    case OP_DROP:
        machine->depth--;
        return true;
    case OP_SWAP:
        copy = top[0];
        top[0] = top[-1];
        top[-1] = copy;
        return true;
    case OP_ROTATE:
        rotate(top - 2);
        return true;
    default: /* a constant */
        machine->stack[++machine->depth] = operand;
        return true;
    }
}

bool agent_evaluate(const uint8_t *code, const struct agent_context *context, uint64_t *result) {
    struct machine machine = {.code = code};
    for (;;) {
        enum opcode opcode = code[machine.at++];
        size_t size = opcodes[opcode].operand;
        uint64_t operand = operand_at(code + machine.at, size);
        uint64_t *top = machine.stack + machine.depth; /* the first value is at 1 */
        machine.at += size;
        if (opcode == OP_END) {
            *result = *top;
            return true;
        }
        if (opcodes[opcode].pops == 2 && opcodes[opcode].pushes == 1) {
            if (divides(opcode) && *top == 0)
                return false;
            top[-1] = combine(opcode, top[-1], *top);
            machine.depth--;
        } else if (!execute(&machine, context, opcode, operand)) {
            return false;
        }
    }
}
