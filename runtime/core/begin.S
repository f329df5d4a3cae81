/* begin.S: the first object of every instrumented executable and shared object.
 *
 * It marks begin and end of the module's cells and of the tables that the runtime reads
 * (format/cells.h, event.h), and calls the runtime before the module's constructors. It refers to
 * the runtime, so the linker takes that from its archive even if no function of the module is
 * instrumented.
 *
 * Linkers make an output section at the first input section with its name. They append those for
 * which they have no rule, in that order. mold sorts these by name. So each end has a section of
 * its own. It is here, directly behind the section that it ends, and its name is that section's
 * name with .end. Then it is the end, wherever the linker puts objects from link-time optimization.
 * The names are not C identifiers, since mold would keep all sections with such names.
 *
 * There are three notes. One leads from one module to the next: dl_iterate_phdr finds it in every
 * module of the process, and it has the address of the module's state (runtime/core/module.c reads
 * it). The others have the addresses of the cells and the tables, so that readers can check what
 * the linker did (symbols/layout.c). The notes are loaded, since --gc-sections drops other sections
 * of an object without code.
 *
 * Invariants: the cells of the next objects follow quipu_cells_begin without a gap. That is the
 * begin of a page, and the page before it is unused, so in executables a chunk of the data file can
 * be mapped over them (runtime/core/chunk.c). Cells are quadwords, so an alignment of 8 makes no
 * gap before quipu_cells_end. A larger one would make cells that belong to no function. The rest of
 * the last page is unused. */
#ifdef __CET__
#include <cet.h>
#endif

/* A hidden symbol that marks a begin or an end. */
        .macro  edge name
        .globl  \name
        .hidden \name
        .type   \name, @object
        .size   \name, 0
\name:
        .endm

/* The linker does not align empty sections, and may drop them. So ends have a few bytes. */
        .macro  table name alignment
        .section .quipu.\name, "a", @progbits
        .balign \alignment
        edge    quipu_\name\()_begin
        .section .quipu.\name\().end, "a", @progbits
        .balign \alignment
        edge    quipu_\name\()_end
        .zero   \alignment
        .endm

        .section .quipu.cells, "aw", @nobits
        .balign 4096
        .zero   4096
        edge    quipu_cells_begin
        .section .quipu.cells.end, "aw", @nobits
        .balign 8
        edge    quipu_cells_end
        .zero   8
        .section .quipu.cells.page, "aw", @nobits
        .balign 4096
        edge    quipu_cells_page
        .zero   8

        table   kinds, 1
        table   ranges, 4
        table   sites, 4
        table   tests, 4
        table   waits, 1

        .section .init_array.00000, "aw", @init_array
        .balign 8
        .quad   quipu_start

        .section .note.quipu, "a", @note
        .balign 4
        .globl  quipu_note
        .hidden quipu_note
        .type   quipu_note, @object
quipu_note:
        .long   6, 4, 2              /* sizes of name and description, QUIPU_STATE_VERSION */
        .asciz  "quipu"
        .balign 4
        .long   quipu_state - .
        .size   quipu_note, . - quipu_note
        .long   6, 8, 2              /* QUIPU_PLACE_NOTE */
        .asciz  "quipu"
        .balign 4
        .long   quipu_cells_begin - ., quipu_cells_end - .
        .long   6, 44, 3             /* QUIPU_TABLES_NOTE */
        .asciz  "quipu"
        .balign 4
        .long   quipu_cells_page - .
        .long   quipu_kinds_begin - ., quipu_kinds_end - .
        .long   quipu_ranges_begin - ., quipu_ranges_end - .
        .long   quipu_sites_begin - ., quipu_sites_end - .
        .long   quipu_tests_begin - ., quipu_tests_end - .
        .long   quipu_waits_begin - ., quipu_waits_end - .

        .hidden quipu_start
        .hidden quipu_state
        .section .note.GNU-stack, "", @progbits
