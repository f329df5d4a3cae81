/* html_calls.c: the trees of calls in the HTML page.
 *
 *     {"functions": [[name, file, line]], "roots": [[name, path]],
 *      "paths": [parent, function, calls, inclusive, exclusive, ...]}
 *
 * Paths are those of functions; calls from several sites are one. Parents precede their children. A
 * root is the path of a thread, without function. */
#include "report/call_paths.h"
#include "report/html.h"

static void write_functions(struct json_writer *json, const struct places *places) {
    json_open_array(json, "functions");
    for (size_t i = 0; i < places->functions.count; i++) {
        const struct called_function *function = &places->functions.data[i];
        json_open_array(json, NULL);
        json_string(json, NULL, function->module ? function->demangled : "(not instrumented)");
        json_unsigned(json, NULL, function->file);
        json_unsigned(json, NULL, function->line);
        json_close(json);
    }
    json_close(json);
}

static void write_roots(struct json_writer *json, struct arena *arena,
                        const struct contexts *contexts, const uint32_t *paths) {
    json_open_array(json, "roots");
    for (size_t i = 0; i < contexts->roots.count; i++) {
        json_open_array(json, NULL);
        json_string(json, NULL, context_root_name(arena, &contexts->roots.data[i]));
        json_unsigned(json, NULL, paths[i]);
        json_close(json);
    }
    json_close(json);
}

/* Adds the counts of the paths' children to theirs. */
static uint64_t *add_inclusive(struct arena *arena, const call_path_vector *paths) {
    uint64_t *inclusive = ARENA_ARRAY(arena, uint64_t, paths->count);
    for (size_t i = paths->count; i-- > 1;) {
        inclusive[i] += vector_at(paths, i)->count;
        inclusive[vector_at(paths, i)->parent] += inclusive[i];
    }
    return inclusive;
}

void html_write_calls(struct json_writer *json, const struct contexts *contexts) {
    struct arena arena = {0};
    uint32_t *roots;
    if (!contexts) {
        json_null(json, "calls");
        return;
    }
    call_path_vector paths = find_call_paths(&arena, contexts, &roots);
    uint64_t *inclusive = add_inclusive(&arena, &paths);
    json_open_object(json, "calls");
    write_functions(json, &contexts->places);
    write_roots(json, &arena, contexts, roots);
    json_open_array(json, "paths");
    for (size_t i = 0; i < paths.count; i++) {
        const struct call_path *path = vector_at(&paths, i);
        json_unsigned(json, NULL, path->parent);
        json_unsigned(json, NULL, path->function);
        json_unsigned(json, NULL, path->calls);
        json_unsigned(json, NULL, inclusive[i]);
        json_unsigned(json, NULL, path->count);
    }
    json_close(json);
    json_close(json);
    arena_release(&arena);
}
