/* addition.c: the additions to cells; see addition.h.
 *
 * The Intel manual, volume 2: INC (ff /0), DEC (ff /1), ADD (83 /0 and an immediate byte, 81 /0 and
 * four bytes), SUB (83 /5, 81 /5). In front are the prefixes of %gs and of 64 bits. */
#include "x86/addition.h"

#include <string.h>

enum {
    SEGMENT = 0x65, /* prefix of %gs */
    WIDE = 0x48,    /* prefix of 64 bits, with any registers */
    WIDE_MASK = 0xf8,
    OPCODE = 2, /* its offset, behind the prefixes */
    FORM = 3,   /* of the byte with the rest of the opcode: bits 3 to 5 */
    BY_BYTE = 0x83,
    BY_FOUR = 0x81,
    BY_ONE = 0xff,
    SUBTRACTS = 5
};

int64_t added_to_cell(const uint8_t *code, size_t size) {
    int32_t four;
    if (size <= FORM + sizeof four || code[0] != SEGMENT || (code[1] & WIDE_MASK) != WIDE)
        return 0;
    unsigned form = code[FORM] >> 3 & 7;
    memcpy(&four, code + size - sizeof four, sizeof four);
    switch (code[OPCODE]) {
    case BY_ONE:
        return form ? -1 : 1;
    case BY_BYTE:
        return form == SUBTRACTS ? -(int64_t)(int8_t)code[size - 1] : (int8_t)code[size - 1];
    case BY_FOUR:
        return form == SUBTRACTS ? -(int64_t)four : four;
    default:
        return 0;
    }
}

bool keeps_carry(const uint8_t *code) {
    return code[OPCODE] == BY_ONE;
}
