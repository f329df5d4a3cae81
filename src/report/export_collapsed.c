/* export_collapsed.c: writes paths of calls, one on each line, for flamegraph.pl and tools that
 * read the same format.
 *
 * Source: Brendan Gregg's FlameGraph, "stackcollapse" format. Sample:
 *
 *     main;scan;look_up 3000
 *
 * The number is the count of instructions that the last function itself executed when it was called
 * by this path. The ';' in a name becomes ':', since the format cannot express it.
 *
 * Invariant: the numbers add up to what all threads executed.
 *
 * Not perfect: counts of all processes and threads are added up. Recursion does not make a path
 * longer (format/calls.h). */
#include "report/call_paths.h"
#include "report/export.h"

#include <inttypes.h>

static void write_name(FILE *out, const char *text) {
    for (; *text; text++)
        fputc(*text == ';' ? ':' : (unsigned char)*text < 0x20 ? '?' : *text, out);
}

/* Writes path NUMBER. ABOVE has room for it. */
static void write_path(FILE *out, const struct places *places, const call_path_vector *paths,
                       uint32_t number, uint32_t *above) {
    size_t depth = 0;
    for (; number; number = vector_at(paths, number)->parent)
        above[depth++] = vector_at(paths, number)->function;
    while (depth--) {
        write_name(out, vector_at(&places->functions, above[depth])->demangled);
        if (depth)
            fputc(';', out);
    }
}

void export_collapsed(const struct export_input *input, FILE *out) {
    struct arena scratch = {0};
    call_path_vector paths = find_call_paths(&scratch, input->contexts, NULL);
    uint32_t *above = ARENA_ARRAY(&scratch, uint32_t, paths.count);
    for (size_t i = 1; i < paths.count; i++) {
        if (!paths.data[i].count)
            continue;
        write_path(out, &input->contexts->places, &paths, (uint32_t)i, above);
        fprintf(out, " %" PRIu64 "\n", paths.data[i].count);
    }
    arena_release(&scratch);
}
