/* layout_check.c: compares the code of a function with that of another binary; see layout_check.h.
 *
 * The pieces of the traced function follow each other in the other binary, at the positions that
 * they had in the compiler's output. A jump may be longer in the traced binary, and the conditional
 * jump at the end of a piece may be inverted there. */
#include "trace/layout_check.h"

#include "symbols/binary.h"

static struct placed_code code_at(const struct checked_binary *checked, uint64_t address) {
    struct placed_code placed = {.addresses = &checked->addresses};
    placed.code = binary_code(checked->binary, address, &placed.count);
    return placed;
}

/* Returns how many of the SIZE bytes at ADDRESS are instructions that fill a gap. */
static uint32_t count_filling(const struct checked_binary *checked, uint64_t address,
                              uint32_t size) {
    struct placed_code there = code_at(checked, address);
    struct decoded decoded;
    uint32_t at = 0;
    while (there.code && at < size &&
           decode_instruction(there.code + at, there.count - at, &decoded) &&
           is_filling(&decoded) && decoded.size <= size - at)
        at += decoded.size;
    return at;
}

/* Compares PIECE with the code at OTHER_ADDRESS. */
static struct code_difference compare_piece(const struct checked_binary *own,
                                            const struct checked_binary *other,
                                            const struct piece *piece, uint64_t other_address) {
    struct code_difference place = {false, piece->offset, piece->address, other_address};
    if (piece->padding) {
        uint32_t filled = count_filling(other, other_address, piece->size);
        place.differs = filled != piece->size;
        place.offset += filled;
        place.other += filled;
        return place;
    }
    for (uint32_t left = piece->size; left;) {
        struct placed_code here = code_at(own, place.own), there = code_at(other, place.other);
        uint8_t sizes[2];
        place.differs = !here.code || !there.code ||
                        !is_same_instruction(&here, &there, true, sizes) || sizes[1] > left;
        if (place.differs)
            return place;
        place.own += sizes[0];
        place.other += sizes[1];
        place.offset += sizes[1];
        left -= sizes[1];
    }
    return place;
}

struct code_difference compare_code(const struct checked_binary *own,
                                    const struct checked_binary *other,
                                    const struct traced_function *function, uint32_t fragment,
                                    uint64_t address) {
    for (uint32_t i = 0; i < function->piece_count; i++) {
        const struct piece *piece = &function->pieces[i];
        if (piece->fragment != fragment)
            continue;
        struct code_difference found = compare_piece(own, other, piece, address + piece->offset);
        if (found.differs)
            return found;
    }
    return (struct code_difference){.differs = false};
}
