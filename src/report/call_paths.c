/* call_paths.c: paths of functions; see call_paths.h. */
#include "report/call_paths.h"

#include "util/path.h"

const char *context_root_name(struct arena *arena, const struct context_root *root) {
    const struct process *process = root->process;
    const char *rank = process->rank ? arena_print(arena, ", rank %u", process->rank - 1) : "";
    return arena_print(arena, "%s%s, process %u, thread %u", last_part(process->program), rank,
                       process->pid, root->owner);
}

struct path_key {
    uint32_t parent, function;
};

/* Returns the index of the path with that KEY. If PATHS do not have it, adds it to them and to
 * NUMBERS. */
static uint32_t find_path(struct arena *arena, struct map *numbers, struct path_key key,
                          call_path_vector *paths) {
    uint32_t fresh = (uint32_t)paths->count;
    uint32_t path = *map_add_copy(arena, numbers, &key, sizeof key, fresh);
    if (path == fresh)
        vector_push(arena, paths,
                    ((struct call_path){.parent = key.parent, .function = key.function}));
    return path;
}

/* The roots of threads. They are all without a function, but none is the same as another. */
static void add_roots(struct arena *arena, const struct contexts *contexts, uint32_t *path_of,
                      call_path_vector *paths, uint32_t *roots) {
    for (size_t i = 0; i < contexts->roots.count; i++) {
        roots[i] = path_of[contexts->roots.data[i].node] = (uint32_t)paths->count;
        vector_push(arena, paths, ((struct call_path){.parent = 0}));
    }
}

call_path_vector find_call_paths(struct arena *arena, const struct contexts *contexts,
                                 uint32_t **roots) {
    call_path_vector paths = {0};
    struct map numbers = {0};
    uint32_t *path_of = ARENA_ARRAY(arena, uint32_t, contexts->nodes.count);
    uint32_t *root_paths = ARENA_ARRAY(arena, uint32_t, contexts->roots.count);
    vector_push(arena, &paths, ((struct call_path){.parent = 0}));
    add_roots(arena, contexts, path_of, &paths, root_paths);
    for (size_t i = 1; i < contexts->nodes.count; i++) {
        const struct context *node = &contexts->nodes.data[i];
        if (path_of[i])
            continue;
        struct path_key key = {path_of[node->parent], node->function};
        path_of[i] = find_path(arena, &numbers, key, &paths);
        vector_at(&paths, path_of[i])->count += node->exclusive;
        vector_at(&paths, path_of[i])->calls += node->calls;
    }
    if (roots)
        *roots = root_paths;
    return paths;
}
