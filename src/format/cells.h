/* cells.h: where inserted code and the runtime meet: a module's cells, and how code reaches those
 * of its thread. */
#ifndef QUIPU_FORMAT_CELLS_H
#define QUIPU_FORMAT_CELLS_H

#include <stdint.h>

/* A module's cells lie in QUIPU_CELLS_SECTION, zero-filled and never loaded from the file, between
 * the hidden symbols quipu_cells_begin and quipu_cells_end (first and last object of the link). The
 * former begins a page; one page in front of it and the rest of the last one are kept free, so that
 * a chunk of the file can be mapped there.  A thread's own cells are a copy with the same layout at
 * cell + quipu_bias.
 *
 * In executables the base of %gs is the same distance, and 0 in the first thread and where a
 * process has no file (yet):
 *
 *     cmpb $0, %fs:quipu_bias@tpoff+7        where code is entered from elsewhere
 *     js   slow                              a thread that has no cells yet: quipu_bias is 1 << 63
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
 * quipu_attach_segment keeps every register, but flags.  quipu_attach gets in %r11 the sum above,
 * returns in %r11 the sum with the thread's distance, and keeps the others.  Both are entered with
 * any stack alignment.  Where there is no file (yet, or none could be made) the distance is 0, and
 * the static cells are used; what they hold when the file comes is added to the first thread's
 * slot. */

#define QUIPU_CELLS_SECTION ".quipu.cells"
#define QUIPU_NOTES_SECTION ".note.quipu" /* loaded: an ELF note named "quipu", ... */

enum {
    QUIPU_PLACE_NOTE = 2,  /* ... of this type: i32 distances from themselves to quipu_cells_begin
                              and quipu_cells_end */
    QUIPU_TABLES_NOTE = 3, /* ... or of this one: the same to the begin of the page that nobody has
                              behind the cells, and to begin and end of kinds, ranges, sites,
                              tests and waits (format/event.h, moment.h, watch.h) */
};

enum {
    QUIPU_BIAS = 128
}; /* so that one-byte displacements reach 32 cells */

#define QUIPU_UNATTACHED ((uint64_t)1 << 63)

#endif
