/* frames.h: the unwinding row of each instruction, from the .cfi_ directives: how to find the CFA.
 */
#ifndef QUIPU_ASM_FRAMES_H
#define QUIPU_ASM_FRAMES_H

#include "asm/unit.h"

struct frame_row {
    bool known;  /* between .cfi_startproc and .cfi_endproc, and given as register and offset */
    bool by_rsp; /* relative to the stack pointer */
    bool by_rbp; /* relative to the frame pointer */
    int64_t offset;
    char base[16]; /* the register, as the text names it */
};

typedef VECTOR(struct frame_row) frame_rows;

/* Reads the directives of FRAGMENT. row_of[statement] is the row in force before each of its
 * statements. row_of must have room for all statements of the unit. */
void find_frames(const struct unit *unit, const struct fragment *fragment, struct arena *arena,
                 frame_rows *rows, uint32_t *row_of);

#endif
