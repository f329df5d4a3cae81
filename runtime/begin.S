/* begin.S: the first object of every instrumented executable and shared object.
 *
 * It marks the begin of the module's cells and of the tables that the runtime reads (data/format.h,
 * sections 3 and 4), and calls the runtime before the module's constructors.
 * It refers to the runtime, so the linker takes that out of its archive even where no function of
 * the module is instrumented.
 *
 * Two notes.  One leads from one module to the next: dl_iterate_phdr finds it in every module of the
 * process, and it tells where that module's state lies (runtime/module.c reads it).  The other tells
 * readers where the cells lie.  They are loaded, since --gc-sections drops what is not where no code
 * stands in the object.
 *
 * Invariants: cells of the objects behind this one follow quipu_cells_begin without a gap; that is
 * the begin of a page, and the page in front of it is nobody's, so that in executables a chunk of
 * the data file can be laid over them (runtime/chunk.c). */
#ifdef __CET__
#include <cet.h>
#endif

        .section quipu_cells, "aw", @nobits
        .balign 4096
        .zero   4096
        .globl  quipu_cells_begin
        .hidden quipu_cells_begin
        .type   quipu_cells_begin, @object
        .size   quipu_cells_begin, 0
quipu_cells_begin:

        .section quipu_ranges, "a", @progbits
        .balign 4
        .globl  quipu_ranges_begin
        .hidden quipu_ranges_begin
        .type   quipu_ranges_begin, @object
        .size   quipu_ranges_begin, 0
quipu_ranges_begin:

        .section quipu_sites, "a", @progbits
        .balign 4
        .globl  quipu_sites_begin
        .hidden quipu_sites_begin
        .type   quipu_sites_begin, @object
        .size   quipu_sites_begin, 0
quipu_sites_begin:

        .section quipu_tests, "a", @progbits
        .balign 4
        .globl  quipu_tests_begin
        .hidden quipu_tests_begin
        .type   quipu_tests_begin, @object
        .size   quipu_tests_begin, 0
quipu_tests_begin:

        .section quipu_waits, "a", @progbits
        .globl  quipu_waits_begin
        .hidden quipu_waits_begin
        .type   quipu_waits_begin, @object
        .size   quipu_waits_begin, 0
quipu_waits_begin:

        .section quipu_kinds, "a", @progbits
        .globl  quipu_kinds_begin
        .hidden quipu_kinds_begin
        .type   quipu_kinds_begin, @object
        .size   quipu_kinds_begin, 0
quipu_kinds_begin:

        .section .init_array.00000, "aw", @init_array
        .balign 8
        .quad   quipu_start

        .section .note.quipu, "a", @note
        .balign 4
        .globl  quipu_note
        .hidden quipu_note
        .type   quipu_note, @object
quipu_note:
        .long   6, 4, 1              /* sizes of name and description, QUIPU_STATE_VERSION */
        .asciz  "quipu"
        .balign 4
        .long   quipu_state - .
        .size   quipu_note, . - quipu_note
        .long   6, 8, 2              /* QUIPU_PLACE_NOTE */
        .asciz  "quipu"
        .balign 4
        .long   quipu_cells_begin - ., quipu_cells_end - .

        .hidden quipu_cells_end
        .hidden quipu_start
        .hidden quipu_state
        .section .note.GNU-stack, "", @progbits
