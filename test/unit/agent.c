// Agent expressions: what programs of bytecode result in; which ones are refused; and random ones,
// which either are refused or end, and read and write nothing outside of their stack.
// flags: -fsanitize=address,undefined -fno-sanitize-recover=all
#define agent_verify   verify /* beside the tool's, for its opcodes */
#define agent_evaluate evaluate_program
#include "debug/agent_expression.c"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), exit(1)))

static bool read_register(void *context, unsigned number, uint64_t *value) {
    (void)context;
    *value = 100 + number;
    return number < 8;
}

/* Memory is its addresses, below 4096. */
static bool read_memory(void *context, uint64_t address, void *bytes, size_t size) {
    (void)context;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)(address + i);
    return address < 4096;
}

static const struct agent_context context = {NULL, read_register, read_memory};

enum outcome {
    REFUSED,
    FAILS,
    GIVES
};

static const struct {
    size_t size;
    uint8_t code[24];
    enum outcome outcome;
    uint64_t value;
} rows[] = {
    {3, {OP_CONSTANT_8, 200, OP_END}, GIVES, 200},
    {5, {OP_CONSTANT_8, 200, OP_EXTEND_SIGN, 8, OP_END}, GIVES, (uint64_t)-56},
    {5, {OP_CONSTANT_8, 200, OP_EXTEND_ZERO, 7, OP_END}, GIVES, 72},
    {5, {OP_CONSTANT_8, 200, OP_EXTEND_SIGN, 64, OP_END}, GIVES, 200},
    {5, {OP_CONSTANT_8, 200, OP_EXTEND_SIGN, 0, OP_END}, REFUSED, 0},
    {5, {OP_CONSTANT_8, 200, OP_EXTEND_ZERO, 65, OP_END}, REFUSED, 0},
    {10, {OP_CONSTANT_64, 1, 2, 3, 4, 5, 6, 7, 8, OP_END}, GIVES, 0x0102030405060708},
    {6, {OP_CONSTANT_8, 5, OP_CONSTANT_8, 7, OP_SUBTRACT, OP_END}, GIVES, (uint64_t)-2},
    {6, {OP_CONSTANT_8, 5, OP_CONSTANT_8, 0, OP_DIVIDE_SIGNED, OP_END}, FAILS, 0},
    {6, {OP_CONSTANT_8, 5, OP_CONSTANT_8, 0, OP_REMAINDER_UNSIGNED, OP_END}, FAILS, 0},
    {9,
     {OP_CONSTANT_8, 1, OP_CONSTANT_8, 63, OP_SHIFT_LEFT, OP_CONSTANT_8, 1, OP_NOT, OP_END},
     GIVES,
     ~(uint64_t)1},
    {8, {OP_CONSTANT_8, 1, OP_CONSTANT_8, 63, OP_SHIFT_LEFT, OP_CONSTANT_8, 0, OP_END}, GIVES, 0},
    {12,
     {OP_CONSTANT_8, 1, OP_CONSTANT_8, 63, OP_SHIFT_LEFT, OP_CONSTANT_8, 255, OP_EXTEND_SIGN, 8,
      OP_DIVIDE_SIGNED, OP_END},
     GIVES,
     (uint64_t)1 << 63}, /* with a byte behind its end */
    {11,
     {OP_CONSTANT_8, 1, OP_CONSTANT_8, 63, OP_SHIFT_LEFT, OP_CONSTANT_8, 255, OP_EXTEND_SIGN, 8,
      OP_DIVIDE_SIGNED, OP_END},
     GIVES,
     (uint64_t)1 << 63},
    {11,
     {OP_CONSTANT_8, 1, OP_CONSTANT_8, 63, OP_SHIFT_LEFT, OP_CONSTANT_8, 255, OP_EXTEND_SIGN, 8,
      OP_REMAINDER_SIGNED, OP_END},
     GIVES,
     0},
    {6, {OP_CONSTANT_8, 1, OP_CONSTANT_8, 64, OP_SHIFT_LEFT, OP_END}, GIVES, 0},
    {8,
     {OP_CONSTANT_8, 128, OP_EXTEND_SIGN, 8, OP_CONSTANT_8, 70, OP_SHIFT_RIGHT_SIGNED, OP_END},
     GIVES,
     UINT64_MAX},
    {8,
     {OP_CONSTANT_8, 128, OP_EXTEND_SIGN, 8, OP_CONSTANT_8, 4, OP_SHIFT_RIGHT_SIGNED, OP_END},
     GIVES,
     (uint64_t)-8},
    {8,
     {OP_CONSTANT_8, 128, OP_EXTEND_SIGN, 8, OP_CONSTANT_8, 1, OP_LESS_SIGNED, OP_END},
     GIVES,
     1},
    {8,
     {OP_CONSTANT_8, 128, OP_EXTEND_SIGN, 8, OP_CONSTANT_8, 1, OP_LESS_UNSIGNED, OP_END},
     GIVES,
     0},
    {4, {OP_REGISTER, 0, 3, OP_END}, GIVES, 103},
    {4, {OP_REGISTER, 1, 3, OP_END}, FAILS, 0},
    {5, {OP_CONSTANT_16, 1, 2, OP_LOAD_32, OP_END}, GIVES, 0x05040302},
    {5, {OP_CONSTANT_16, 255, 2, OP_LOAD_8, OP_END}, FAILS, 0},
    {6, {OP_CONSTANT_8, 9, OP_CONSTANT_8, 8, OP_SWAP, OP_END}, GIVES, 9},
    {11,
     {OP_CONSTANT_8, 0, OP_JUMP_IF, 0, 8, OP_CONSTANT_8, 4, OP_END, OP_CONSTANT_8, 5, OP_END},
     GIVES,
     4},
    {11,
     {OP_CONSTANT_8, 2, OP_JUMP_IF, 0, 8, OP_CONSTANT_8, 4, OP_END, OP_CONSTANT_8, 5, OP_END},
     GIVES,
     5},
    {11,
     {OP_CONSTANT_8, 2, OP_JUMP_IF, 0, 9, OP_CONSTANT_8, 4, OP_END, OP_CONSTANT_8, 5, OP_END},
     REFUSED,
     0}, /* into an operand */
    {11,
     {OP_CONSTANT_8, 2, OP_JUMP_IF, 0, 7, OP_CONSTANT_8, 4, OP_END, OP_CONSTANT_8, 5, OP_END},
     REFUSED,
     0}, /* by two ways, with two depths */
    {6, {OP_CONSTANT_8, 2, OP_JUMP, 0, 0, OP_END}, REFUSED, 0},
    {6, {OP_CONSTANT_8, 2, OP_JUMP, 0, 6, OP_END}, REFUSED, 0},
    {6, {OP_CONSTANT_8, 2, OP_JUMP, 0, 5, OP_END}, GIVES, 2},
    {1, {OP_END}, REFUSED, 0},
    {2, {OP_CONSTANT_8, 2}, REFUSED, 0},
    {2, {OP_CONSTANT_32, 2}, REFUSED, 0},
    {0, {0}, REFUSED, 0},
    {6, {OP_CONSTANT_8, 1, 0x2d, 0, 1, OP_END}, REFUSED, 0}, /* sets a variable */
    {3, {OP_CONSTANT_8, 1, 0xff}, REFUSED, 0},
};

static void check_rows(void) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 0;
        uint8_t *code = malloc(rows[i].size); /* so that a read behind its end is seen */
        memcpy(code, rows[i].code, rows[i].size);
        enum outcome outcome = REFUSED;
        if (agent_verify(code, rows[i].size))
            outcome = agent_evaluate(code, &context, &value) ? GIVES : FAILS;
        if (outcome != rows[i].outcome || (outcome == GIVES && value != rows[i].value)) {
            fprintf(stderr, "row %zu: %d, %llx\n", i, outcome, (unsigned long long)value);
            exit(1);
        }
        free(code);
    }
}

static uint32_t draw(uint32_t below) {
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

/* Mostly bytecodes that exist, and operands that are small. */
static size_t make_random(uint8_t *code) {
    size_t size = 0;
    for (uint32_t i = draw(30); i; i--) {
        uint8_t opcode = (uint8_t)draw(draw(20) ? OPCODES : 256);
        if (draw(3) == 0)
            opcode = OP_CONSTANT_8;
        code[size++] = opcode;
        size_t operand = opcode < OPCODES ? opcodes[opcode].operand : 0;
        bool jumps = opcode == OP_JUMP || opcode == OP_JUMP_IF;
        for (size_t j = 0; j < operand; j++, size++)
            code[size] = (uint8_t)(jumps ? j * (size + draw(12)) : draw(draw(4) ? 8 : 256));
    }
    code[size++] = OP_END;
    return draw(50) ? size : draw((uint32_t)size);
}

static void check_random(void) {
    enum {
        ROUNDS = 300000
    };
    static uint8_t made[512];
    unsigned taken = 0, valued = 0;
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = make_random(made);
        uint64_t value;
        uint8_t *code = malloc(size);
        memcpy(code, made, size);
        if (agent_verify(code, size)) {
            taken++;
            valued += agent_evaluate(code, &context, &value);
        }
        free(code);
    }
    CHECK(taken > ROUNDS / 100 && valued > taken / 3);
}

/* The stack's greatest depth, and one more. */
static void check_depth(void) {
    static uint8_t code[2 * AGENT_STACK_MOST + 3];
    uint64_t value;
    for (size_t i = 0; i <= AGENT_STACK_MOST; i++)
        code[2 * i] = OP_CONSTANT_8;
    code[2 * AGENT_STACK_MOST] = OP_END;
    CHECK(agent_verify(code, 2 * AGENT_STACK_MOST + 1) && agent_evaluate(code, &context, &value));
    code[2 * AGENT_STACK_MOST] = OP_CONSTANT_8;
    code[2 * AGENT_STACK_MOST + 2] = OP_END;
    CHECK(!agent_verify(code, sizeof code));
}

int main(void) {
    check_rows();
    check_depth();
    check_random();
    return 0;
}
