/* jump.c: the jump that is written over an instruction of a program that runs. */
#include "x86/jump.h"

#include <string.h>

enum {
    JUMP = 0xe9, /* and the distance, from behind it */
    JUMP_SIZE = 5,
    NO_OPERATION = 0x90,
};

void encode_jump(uint8_t *text, size_t size, uint64_t from, uint64_t to) {
    int32_t distance = (int32_t)(to - from - JUMP_SIZE);
    text[0] = JUMP;
    memcpy(&text[1], &distance, sizeof distance);
    memset(&text[JUMP_SIZE], NO_OPERATION, size - JUMP_SIZE);
}
