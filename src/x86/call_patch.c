/* call_patch.c: see call_patch.h.
 *
 * The Intel manual, volume 2: SYSCALL (0f 05), JMP rel8 (eb), JMP rel32 (e9), JMP m64 (ff /4; with
 * an absolute address of 32 bits: 24 25), MOV r32, imm32 (b8 + register). */
#include "x86/call_patch.h"

#include "x86/decode.h"

#include <string.h>

enum {
    JUMP_SIZE = 5,
    NUMBER_SIZE = 5
};

static const uint8_t syscall_code[CALL_SIZE] = {0x0f, 0x05};

bool is_padding(const uint8_t *code, size_t count) {
    size_t at = 0;
    while (at < count) {
        struct decoded decoded;
        if (!decode_instruction(code + at, count - at, &decoded) || !is_filling(&decoded))
            return false;
        at += decoded.size;
    }
    return at == count;
}

bool reaches_padding(uint64_t call, uint64_t padding) {
    int64_t distance = (int64_t)(padding - (call + CALL_SIZE));
    return distance >= INT8_MIN && distance <= INT8_MAX;
}

void write_short_jump(uint8_t code[CALL_SIZE], uint64_t call, uint64_t padding) {
    code[0] = 0xeb;
    code[1] = (uint8_t)(padding - (call + CALL_SIZE));
}

void write_word_jump(uint8_t code[CALL_JUMP_SIZE], uint64_t word) {
    static const uint8_t jump[] = {0xff, 0x24, 0x25};
    const uint32_t address = (uint32_t)word;
    memcpy(code, jump, sizeof jump);
    memcpy(code + sizeof jump, &address, sizeof address);
}

size_t write_numbered_jump(uint8_t *code, uint64_t at, uint32_t number, uint64_t target) {
    const uint32_t distance = (uint32_t)(target - (at + NUMBER_SIZE + JUMP_SIZE));
    code[0] = 0xb9; /* %ecx */
    memcpy(code + 1, &number, sizeof number);
    code[NUMBER_SIZE] = 0xe9;
    memcpy(code + NUMBER_SIZE + 1, &distance, sizeof distance);
    return NUMBER_SIZE + JUMP_SIZE;
}

void write_call(uint8_t code[CALL_SIZE]) {
    memcpy(code, syscall_code, sizeof syscall_code);
}

static bool may_move(const struct decoded *decoded) {
    return decoded->class == CLASS_PLAIN && decoded->store.kind == ACCESS_NONE &&
           decoded->load_count == 0 && !decoded->address_to && !decoded->faults &&
           !decoded->traps && !decoded->repeats;
}

/* The distance of a direct jump is its last byte, or its last four. */
static int64_t distance_of(const uint8_t *code, size_t size) {
    enum {
        SHORT_MOST = 3 /* with a prefix */
    };
    int32_t distance;
    if (size <= SHORT_MOST)
        return (int8_t)code[size - 1];
    memcpy(&distance, code + size - sizeof distance, sizeof distance);
    return distance;
}

/* Whether a direct jump of the code goes to between FROM and TO, or with INDIRECT it has an
 * indirect one, which may. */
static bool has_jump_to(const uint8_t *code, size_t count, uint64_t from, uint64_t to,
                        bool indirect) {
    for (size_t at = 0; at < count;) {
        struct decoded decoded;
        if (!decode_instruction(code + at, count - at, &decoded))
            return true;
        bool direct = decoded.class == CLASS_JUMP || decoded.class == CLASS_CONDITIONAL ||
                      decoded.class == CLASS_CONDITIONAL_NEAR || decoded.class == CLASS_TRANSACTION;
        uint64_t target =
            direct ? at + decoded.size + (uint64_t)distance_of(code + at, decoded.size) : 0;
        if ((indirect && decoded.class == CLASS_JUMP_INDIRECT) ||
            (direct && target - from - 1 < to - from - 1))
            return true;
        at += decoded.size;
    }
    return false;
}

bool is_jumped_into(const uint8_t *code, size_t count, size_t from, size_t to) {
    return has_jump_to(code, count, from, to, true);
}

bool is_jumped_into_from(const uint8_t *code, size_t count, int64_t from, int64_t to) {
    return has_jump_to(code, count, (uint64_t)from, (uint64_t)to, false);
}

/* The Intel manual, volume 2: CALL rel32 (e8), JMP rel32 (e9), Jcc rel32 (0f 80 to 0f 8f). */
bool is_reached_by_near_jump(const uint8_t *code, size_t count, size_t from, size_t to) {
    int32_t distance;
    for (size_t at = 1; at + sizeof distance <= count; at++) {
        bool is_conditional = at > 1 && code[at - 2] == 0x0f && code[at - 1] >> 4 == 8;
        if (!is_conditional && (code[at - 1] & 0xfe) != 0xe8)
            continue;
        memcpy(&distance, code + at, sizeof distance);
        uint64_t target = at + sizeof distance + (uint64_t)(int64_t)distance;
        if (target - from - 1 < to - from - 1)
            return true;
    }
    return false;
}

size_t bytes_to_move(const uint8_t *code, size_t count, size_t place) {
    size_t behind = place + CALL_SIZE, at = behind;
    while (at - place < CALL_JUMP_SIZE) {
        struct decoded decoded;
        if (at >= count || !decode_instruction(code + at, count - at, &decoded) ||
            !may_move(&decoded))
            return 0;
        at += decoded.size;
    }
    bool fits = at - behind <= CALL_MOVED_MOST;
    return fits && !is_jumped_into(code, count, place, at) ? at - behind : 0;
}
