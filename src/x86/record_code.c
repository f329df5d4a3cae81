/* record_code.c: the registers of a program in the code of a record; see record_code.h.
 *
 * The code exchanges registers, saves some on the stack, uses them, and gives them back. What it
 * changes and does not give back was free. */
#include "x86/record_code.h"

#include <string.h>

static bool exchanges(const struct decoded *decoded) {
    return __builtin_popcount(decoded->registers_written) == 2 &&
           decoded->registers_read == decoded->registers_written && !decoded->load_count &&
           !writes_memory(decoded);
}

static void exchange(struct record_code_state *state, uint16_t registers) {
    int first = __builtin_ctz(registers), second = __builtin_ctz(registers & (registers - 1u));
    uint64_t value = state->registers[first];
    bool same = (state->known >> first & 1) == (state->known >> second & 1);
    state->registers[first] = state->registers[second];
    state->registers[second] = value;
    state->known ^= same ? 0 : registers;
}

/* The registers that a pop changes come from the stack. */
static void pop(struct record_code_state *state, uint16_t registers) {
    uint64_t offset = state->registers[STACK_POINTER] - state->stack_begin;
    registers &= (uint16_t)~REGISTER_RSP;
    state->registers[STACK_POINTER] += 8;
    if (!registers)
        return;
    int reg = __builtin_ctz(registers);
    bool there = offset <= state->stack_size && state->stack_size - offset >= 8;
    state->known &= (uint16_t)~registers;
    if (!there)
        return;
    memcpy(&state->registers[reg], state->stack + offset, 8);
    state->known |= registers;
}

bool follow_record_code(struct record_code_state *state, const uint8_t *code, size_t size) {
    struct decoded decoded;
    if (!decode_instruction(code, size, &decoded))
        return false;
    state->address += decoded.size;
    if (decoded.class == CLASS_JUMP) {
        state->address += (uint64_t)jump_distance(code);
        return true;
    }
    if (decoded.class != CLASS_PLAIN)
        return false;
    if (exchanges(&decoded))
        exchange(state, decoded.registers_written);
    else if (decoded.load_count == 1 && decoded.loads[0].kind == ACCESS_STACK &&
             !writes_memory(&decoded))
        pop(state, decoded.registers_written);
    else
        state->known = follow_registers(&decoded, state->address, state->registers, state->known);
    return true;
}
