/* moved_code.c: see moved_code.h. The Intel manual, volume 2: JMP rel32 (e9); volume 1, 3.7.5.1:
 * addresses relative to the instruction pointer.
 *
 * Not perfect: only instructions move that continue behind themselves. */
#include "x86/moved_code.h"

#include "x86/call_patch.h"
#include "x86/names.h"

#include <string.h>

/* Whether the instruction may be executed elsewhere. A string instruction that repeats is left
 * where it is: between two turns it is at its begin. */
static bool may_move(const struct decoded *decoded) {
    return decoded->class == CLASS_PLAIN && !decoded->repeats;
}

size_t bytes_for_jump(const uint8_t *code, size_t count, const uint8_t *whole, size_t size,
                      size_t place) {
    size_t moved = 0;
    unsigned instructions = 0;
    for (; moved < LONG_JUMP_SIZE; instructions++) {
        struct decoded decoded;
        if (!decode_instruction(code + moved, count - moved, &decoded) || !may_move(&decoded))
            return 0;
        moved += decoded.size;
    }
    if (instructions > 1 &&
        (!whole || place + moved > size || is_jumped_into(whole, size, place, place + moved)))
        return 0;
    return moved;
}

/* Changes the distance in the instruction of DECODED at CODE, if it has one, by SHIFT. */
static bool change_distance(const ZydisDecodedInstruction *decoded, uint8_t *code, int64_t shift) {
    int32_t distance;
    uint8_t *place = code + decoded->raw.disp.offset;
    bool is_relative = decoded->attributes & ZYDIS_ATTRIB_IS_RELATIVE;
    if (!is_relative)
        return true;
    if (decoded->raw.disp.size != 8 * sizeof distance)
        return false;
    memcpy(&distance, place, sizeof distance);
    int64_t changed = distance + shift;
    distance = (int32_t)changed;
    memcpy(place, &distance, sizeof distance);
    return changed == distance;
}

bool move_code(const uint8_t *code, size_t size, uint64_t from, uint64_t to, uint8_t *moved) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction decoded;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    memcpy(moved, code, size);
    for (size_t at = 0; at < size; at += decoded.length) {
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, size - at, &decoded)) ||
            !change_distance(&decoded, moved + at, (int64_t)(from - to)))
            return false;
    }
    return true;
}

bool write_long_jump(uint8_t code[LONG_JUMP_SIZE], uint64_t from, uint64_t to) {
    int64_t distance = (int64_t)(to - (from + LONG_JUMP_SIZE));
    int32_t stored = (int32_t)distance;
    code[0] = 0xe9;
    memcpy(code + 1, &stored, sizeof stored);
    return stored == distance;
}
