/* begin.S: the first object of every instrumented executable and shared object.
 *
 * It marks begin and end of the module's cells and of the tables that the runtime reads
 * (format/cells.h, event.h), and calls the runtime before the module's constructors.
 * It refers to the runtime, so the linker takes that out of its archive even where no function of
 * the module is instrumented.
 *
 * Linkers make a section of the output where they first meet its name, and put those that they have
 * no place for behind each other in that order; mold puts them in the order of their names.  So an
 * end is in a section of its own, which stands here right behind the one that it ends, and its name
 * is that one's with .end behind it: then it is the end, wherever the linker puts objects that link-time
 * optimization makes.  Names that are no identifiers of C, since mold would keep all sections that
 * have one.
 *
 * Three notes.  One leads from one module to the next: dl_iterate_phdr finds it in every module of
 * the process, and it tells where that module's state lies (runtime/core/module.c reads it).  The others
 * tell readers where the cells and the tables lie, so that these can see whether the linker did as
 * it should (symbols/layout.c).  They are loaded, since --gc-sections drops what is not where no code
 * stands in the object.
 *
 * Invariants: cells of the objects behind this one follow quipu_cells_begin without a gap; that is
 * the begin of a page, and the page in front of it is nobody's, so that in executables a chunk of
 * the data file can be laid over them (runtime/core/chunk.c).  Cells are quadwords, so an alignment of 8
 * opens no gap before quipu_cells_end; a larger one would count bytes as cells that belong to no
 * function.  What is left of the last page is nobody's. */
#ifdef __CET__
#include <cet.h>
#endif

/* A hidden symbol that is an end of something. */
        .macro  edge name
        .globl  \name
        .hidden \name
        .type   \name, @object
        .size   \name, 0
\name:
        .endm

/* The linker aligns nothing that is empty, and may drop it: so ends have a few bytes. */
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
        .long   6, 4, 1              /* sizes of name and description, QUIPU_STATE_VERSION */
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
