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
#include "report/export.h"

#include "data/calls.h"

#include <inttypes.h>

static void write_name(FILE *out, const char *text) {
    for (; *text; text++)
        fputc(*text == ';' ? ':' : (unsigned char)*text < 0x20 ? '?' : *text, out);
}

/* A path of functions. Calls from several call sites of a function are one. */
struct path {
    uint32_t parent; /* index; 0: the root */
    uint32_t function;
    uint64_t count;
};

struct path_key {
    uint32_t parent, function;
};

typedef VECTOR(struct path) path_vector;

/* Returns all paths of CONTEXTS. [0] is the root. */
static path_vector find_paths(struct arena *arena, const struct contexts *contexts) {
    path_vector paths = {0};
    struct map numbers = {0};
    uint32_t *path_of = ARENA_ARRAY(arena, uint32_t, contexts->nodes.count);
    vector_push(arena, &paths, ((struct path){0, 0, 0}));
    for (size_t i = 1; i < contexts->nodes.count; i++) {
        const struct context *node = &contexts->nodes.data[i];
        struct path_key *key = ARENA_NEW(arena, struct path_key);
        *key = (struct path_key){path_of[node->parent], node->function};
        uint32_t fresh = (uint32_t)paths.count;
        path_of[i] = *map_add(arena, &numbers, (const char *)key, sizeof *key, fresh);
        if (path_of[i] == fresh)
            vector_push(arena, &paths, ((struct path){key->parent, key->function, 0}));
        vector_at(&paths, path_of[i])->count += node->exclusive;
    }
    return paths;
}

/* Writes path NUMBER. ABOVE has room for it. */
static void write_path(FILE *out, const struct places *places, const path_vector *paths,
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
    path_vector paths = find_paths(&scratch, input->contexts);
    uint32_t *above = ARENA_ARRAY(&scratch, uint32_t, paths.count);
    for (size_t i = 1; i < paths.count; i++) {
        if (!paths.data[i].count)
            continue;
        write_path(out, &input->contexts->places, &paths, (uint32_t)i, above);
        fprintf(out, " %" PRIu64 "\n", paths.data[i].count);
    }
    arena_release(&scratch);
}
