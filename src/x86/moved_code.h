/* moved_code.h: instructions of a program that give room to a jump, and are executed elsewhere. */
#ifndef QUIPU_X86_MOVED_CODE_H
#define QUIPU_X86_MOVED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LONG_JUMP_SIZE = 5,
    MOVED_MAX = LONG_JUMP_SIZE - 1 + 15 /* bytes that are moved at most; an instruction has 15 */
};

/* Returns how many bytes at CODE, of which there are COUNT, must move so that a long jump has room,
 * or 0 if they cannot move. More than one instruction moves only if WHOLE, the function of SIZE
 * bytes in which CODE is at PLACE, is known, and has no jump to between them. */
size_t bytes_for_jump(const uint8_t *code, size_t count, const uint8_t *whole, size_t size,
                      size_t place);

/* Sets MOVED to the SIZE bytes at CODE, which are executed at FROM, so that they do the same at TO.
 * They keep their sizes. Returns false if TO is too far. */
bool move_code(const uint8_t *code, size_t size, uint64_t from, uint64_t to, uint8_t *moved);

/* Writes the jump from FROM to TO. Returns false if that is too far. */
bool write_long_jump(uint8_t code[LONG_JUMP_SIZE], uint64_t from, uint64_t to);

#endif
