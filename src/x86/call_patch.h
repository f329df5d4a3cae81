/* call_patch.h: how a system call instruction of a program becomes a jump.
 *
 * It has two bytes, and nothing but those may change if another thread, or the frame of a signal
 * handler, has the address behind it. So it becomes a short jump to padding in reach, between two
 * functions, where a long jump has room. Where there is none, instructions behind it are moved. */
#ifndef QUIPU_X86_CALL_PATCH_H
#define QUIPU_X86_CALL_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CALL_SIZE = 2,
    CALL_JUMP_SIZE = 7,   /* of a jump through a word in the low 2 GB */
    CALL_MOVED_MOST = 24, /* bytes that are moved at most */
    CALL_REACH = 129,
};

/* Whether the COUNT bytes at CODE are instructions that are never executed behind a jump. */
bool is_padding(const uint8_t *code, size_t count);

/* Whether a long jump at the place of PADDING can be reached by a short one at that of a call. */
bool reaches_padding(uint64_t call, uint64_t padding);

/* Writes the short jump from CALL to PADDING. */
void write_short_jump(uint8_t code[CALL_SIZE], uint64_t call, uint64_t padding);

/* Writes the jump to the address in the word at WORD, which is in the low 2 GB. */
void write_word_jump(uint8_t code[CALL_JUMP_SIZE], uint64_t word);

/* Writes at AT: mov $NUMBER, %ecx; jmp TARGET. Returns its size. */
size_t write_numbered_jump(uint8_t *code, uint64_t at, uint32_t number, uint64_t target);

/* Writes the instruction that makes a system call. */
void write_call(uint8_t code[CALL_SIZE]);

/* Whether a jump of the function of COUNT bytes at CODE may go to between FROM and TO. */
bool is_jumped_into(const uint8_t *code, size_t count, size_t from, size_t to);

/* Whether a direct jump of the function of COUNT bytes at CODE goes to between FROM and TO, which
 * are outside of it and relative to its begin. */
bool is_jumped_into_from(const uint8_t *code, size_t count, int64_t from, int64_t to);

/* Whether any of the COUNT bytes at CODE may begin a jump or a call that goes to between FROM and
 * TO by a distance of four bytes. Short jumps have one. */
bool is_reached_by_near_jump(const uint8_t *code, size_t count, size_t from, size_t to);

/* Returns how many bytes behind the call at PLACE of a function of COUNT bytes at CODE must move
 * so that a long jump has room, or 0 if that is not possible. Only instructions move that concern
 * nothing but registers and to which nothing jumps. */
size_t bytes_to_move(const uint8_t *code, size_t count, size_t place);

#endif
