/* patch.h: changes this module's text while the program runs.
 *
 * Code that most runs do not need is out of line. A row of a table (format/watch.h,
 * format/moment.h) has the address of the instruction that must lead to it. That instruction
 * becomes a jump:
 *
 *     quipu_patch_open(first, last, true);
 *     quipu_patch_site(place, code, false);      for each row
 *     quipu_patch_open(first, last, false);
 *     quipu_patch_synchronize();
 *
 * The caller holds a lock, so no other thread closes the text meanwhile. */
#ifndef QUIPU_RUNTIME_PATCH_PATCH_H
#define QUIPU_RUNTIME_PATCH_PATCH_H

#include "format/jump.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* This module's segments, according to its program headers. */
struct segments {
    const Elf64_Phdr *data;
    unsigned count;
    uint64_t bias; /* load address minus link address */
};
struct segments quipu_own_segments(void);

/* Makes the module's text from the instruction at BEGIN to the one at END writable, or not writable
 * again. It stays executable. Data between two segments of code does not change. Returns 0, or the
 * negative error number. */
long quipu_patch_open(uint64_t begin, uint64_t end, bool open);

/* Makes the site at PLACE jump to CODE. The site is a no-operation of five bytes within a cache
 * line. One store changes it, so a thread that arrives executes the old or the new instruction. If
 * the site is a jump already, changes it only if OVER.
 * requires: quipu_patch_open */
void quipu_patch_site(uint64_t place, uint64_t code, bool over);

/* Whether the site at PLACE is a jump. */
static inline bool is_patched(uint64_t place) {
    return *(const volatile uint8_t *)place == X86_JUMP;
}

/* The same for any instruction of SIZE bytes, at least five, at PLACE. No thread may execute it
 * meanwhile.
 * requires: quipu_patch_open */
void quipu_patch_instruction(uint64_t place, uint64_t size, uint64_t code);

/* Makes the direct jump whose distance, its last four bytes, is at PLACE lead to CODE. No thread
 * may execute it meanwhile. requires: quipu_patch_open */
void quipu_patch_distance(uint64_t place, uint64_t code);

/* Makes all processors that run the program drop instructions that they have fetched. */
void quipu_patch_synchronize(void);

#endif
