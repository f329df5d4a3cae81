/* pass_filter.h: code that counts the passes of an instruction, and traps at a wanted one.
 *
 * A breakpoint stops at each pass, which takes some 30 microseconds. Here the instruction becomes a
 * jump to code that compares the registers itself, in nanoseconds. It changes no register, flag or
 * memory but its own. */
#ifndef QUIPU_X86_PASS_FILTER_H
#define QUIPU_X86_PASS_FILTER_H

#include "x86/registers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FILTER_JUMP_SIZE = 5,
    FILTER_MOVED_MOST = 24, /* bytes of instructions that the jump replaces, at most */
    FILTER_SIZE = 4096,     /* of the code with its data */
    FILTER_COUNT = 2048,    /* in these, the number of passes so far: 8 bytes */
    FILTER_WORDS = 48       /* of memory that are compared, at most */
};

/* The pass that is wanted. */
struct wanted_pass {
    uint64_t count;                           /* its number, from 1; 0: by what follows */
    const struct user_regs_struct *registers; /* all general ones are equal */
    size_t words;                             /* and these words of memory */
    uint64_t addresses[FILTER_WORDS], values[FILTER_WORDS];
};

struct pass_filter {
    uint8_t code[FILTER_SIZE];
    uint64_t at;    /* its address */
    uint64_t trap;  /* of the no-operation that is come to at the wanted pass, with all registers
                       as they are in front of the instruction */
    uint64_t moved; /* of the instructions that the jump replaces */
    size_t moved_size;
    uint8_t jump[FILTER_JUMP_SIZE]; /* replaces them */
};

/* Returns the size of the instructions at CODE, of which COUNT bytes can be read, that a jump would
 * replace; 0 if they cannot be executed elsewhere. */
size_t filtered_size(const uint8_t *code, size_t count);

/* Whether some of the COUNT bytes at CODE may be a direct jump to between FROM and TO, both left
 * out. Wherever such bytes begin, they count. */
bool may_jump_between(const uint8_t *code, size_t count, size_t from, size_t to);

/* Makes FILTER for the instructions at ADDRESS, MOVED_SIZE bytes at CODE; its code will be at AT,
 * within 2 GB. */
void make_pass_filter(struct pass_filter *filter, uint64_t at, uint64_t address,
                      const uint8_t *code, size_t moved_size, const struct wanted_pass *wanted);

#endif
