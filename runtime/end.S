/* end.S: the last object of every instrumented executable and shared object: the end of its cells
 * and of the tables that the runtime reads.
 *
 * Invariants: cells are quadwords, so an alignment of 8 opens no gap before quipu_cells_end.  A
 * larger one would count bytes as cells that belong to no function.  What is left of the last page
 * is nobody's. */
#ifdef __CET__
#include <cet.h>
#endif

        .section quipu_cells, "aw", @nobits
        .balign 8
        .globl  quipu_cells_end
        .hidden quipu_cells_end
        .type   quipu_cells_end, @object
        .size   quipu_cells_end, 0
quipu_cells_end:

        .section quipu_cells, "aw", @nobits, unique, 1
        .balign 4096
        .zero   8               /* the linker aligns nothing that is empty */

        .section quipu_ranges, "a", @progbits
        .balign 4
        .globl  quipu_ranges_end
        .hidden quipu_ranges_end
        .type   quipu_ranges_end, @object
        .size   quipu_ranges_end, 0
quipu_ranges_end:

        .section quipu_sites, "a", @progbits
        .balign 4
        .globl  quipu_sites_end
        .hidden quipu_sites_end
        .type   quipu_sites_end, @object
        .size   quipu_sites_end, 0
quipu_sites_end:

        .section quipu_tests, "a", @progbits
        .balign 4
        .globl  quipu_tests_end
        .hidden quipu_tests_end
        .type   quipu_tests_end, @object
        .size   quipu_tests_end, 0
quipu_tests_end:

        .section quipu_waits, "a", @progbits
        .globl  quipu_waits_end
        .hidden quipu_waits_end
        .type   quipu_waits_end, @object
        .size   quipu_waits_end, 0
quipu_waits_end:

        .section quipu_kinds, "a", @progbits
        .globl  quipu_kinds_end
        .hidden quipu_kinds_end
        .type   quipu_kinds_end, @object
        .size   quipu_kinds_end, 0
quipu_kinds_end:

        .section .note.GNU-stack, "", @progbits
