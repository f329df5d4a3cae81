/* patch.h: this module's text is changed while the program runs.
 *
 * Code that most runs do not need stands out of line.  A row of a table (format/watch.h,
 * format/moment.h) tells the instruction that is to lead there, and what leads there is a jump:
 *
 *     quipu_patch_open(first, last, true);
 *     quipu_patch_site(place, code, false);      for each row
 *     quipu_patch_open(first, last, false);
 *     quipu_patch_synchronize();
 *
 * The caller holds a lock, so that no other thread closes the text meanwhile. */
#ifndef QUIPU_RUNTIME_PATCH_PATCH_H
#define QUIPU_RUNTIME_PATCH_PATCH_H

#include "format/jump.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* This module's segments, as its program headers tell. */
struct segments {
    const Elf64_Phdr *data;
    unsigned count;
    uint64_t bias; /* where the module was loaded, minus where it is linked */
};
struct segments quipu_own_segments(void);

/* Lets the module's text from the instruction at BEGIN to that at END be written, or no longer; it
 * can be executed all the while.  Data that lies between two segments of code stays as it is.
 * Returns 0, or minus the error's number. */
long quipu_patch_open(uint64_t begin, uint64_t end, bool open);

/* Has the site at PLACE, a no-operation of five bytes that crosses no line of the cache, lead to
 * CODE.  One store does it, so a thread that comes by runs the one or the other.  A site that is a
 * jump already stays so, but where OVER.
 * requires: quipu_patch_open */
void quipu_patch_site(uint64_t place, uint64_t code, bool over);

/* Whether the site at PLACE is a jump. */
static inline bool is_patched(uint64_t place) {
    return *(const volatile uint8_t *)place == X86_JUMP;
}

/* The same for any instruction of SIZE bytes at PLACE, five at least, that no thread executes.
 * requires: quipu_patch_open */
void quipu_patch_instruction(uint64_t place, uint64_t size, uint64_t code);

/* Has all processors that run the program forget what they have read ahead of its text. */
void quipu_patch_synchronize(void);

#endif
