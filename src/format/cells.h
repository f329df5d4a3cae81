/* cells.h: the contract between inserted code and the runtime: a module's cells, and how code
 * reaches those of its thread. */
#ifndef QUIPU_FORMAT_CELLS_H
#define QUIPU_FORMAT_CELLS_H

#include <stdint.h>

/* A module's cells are in QUIPU_CELLS_SECTION, which is zero-filled and not loaded from the file.
 * They are between the hidden symbols quipu_cells_begin and quipu_cells_end, of the first and the
 * last object of the link. quipu_cells_begin is the begin of a page. The page in front of it, and
 * the rest of the last page, are unused. So a chunk of the data file can be mapped there. A
 * thread's own cells are a copy with the same layout at cell + quipu_bias.
 *
 * In executables the base of %gs is the same distance. It is 0 in the first thread, and while the
 * process has no file:
 *
 *     cmpb $0, %fs:quipu_bias@tpoff+7        where code is entered from elsewhere
 *     js   slow                              a thread without cells: quipu_bias is 1 << 63
 *     incq %gs:cells_of_function+8*(N-1)(%rip)   N-th cell of the function
 *   slow: leaq -128(%rsp), %rsp; call quipu_attach_segment; leaq 128(%rsp), %rsp; jmp back
 *
 * In shared objects:
 *
 *     movq quipu_bias@gottpoff(%rip), %r11; movq %fs:(%r11), %r11
 *     addq cells_of_function+QUIPU_BIAS@GOTPCREL(%rip), %r11
 *     js   slow
 *     incq 8*N-QUIPU_BIAS(%r11)
 *   slow: leaq -128(%rsp), %rsp; call quipu_attach; leaq 128(%rsp), %rsp; jmp back
 *
 * quipu_attach_segment keeps every register, but not the flags. quipu_attach gets the sum above in
 * %r11, and returns the sum with the thread's distance there. It keeps the other registers. Both
 * can be called with any stack alignment. If there is no file, because it is not made yet or cannot
 * be made, the distance is 0, and the static cells are used. When the file is made, the contents of
 * the static cells are added to the first thread's slot. */

#define QUIPU_CELLS_SECTION ".quipu.cells"
#define QUIPU_NOTES_SECTION ".note.quipu" /* loaded: an ELF note named "quipu", ... */

enum {
    QUIPU_PLACE_NOTE = 2,  /* ... of this type: i32 distances from themselves to quipu_cells_begin
                              and quipu_cells_end */
    QUIPU_TABLES_NOTE = 3, /* ... or of this one: likewise to the begin of the unused page behind
                              the cells, and to the begin and end of kinds, ranges, sites, tests and
                              waits (format/event.h, moment.h, watch.h) */
};

enum {
    QUIPU_BIAS = 128
}; /* so that one-byte displacements reach 32 cells */

#define QUIPU_UNATTACHED ((uint64_t)1 << 63)

#endif
