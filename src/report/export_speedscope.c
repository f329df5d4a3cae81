/* export_speedscope.c: writes the format of speedscope, a profile for each thread of each process.
 *
 * Source: speedscope's file-format-spec.ts. Sample:
 *
 *     {"$schema": "https://www.speedscope.app/file-format-schema.json", "exporter": "quipu 0.1.0",
 *      "name": "prog",
 *      "shared": {"frames": [{"name": "main", "file": "/home/user/prog.c", "line": 12}, ...]},
 *      "profiles": [
 *        {"type": "evented", "name": "prog, process 4711, thread 4712", "unit": "none",
 *         "startValue": 0, "endValue": 90,
 *         "events": [{"type": "O", "frame": 0, "at": 0}, ...,
 *                    {"type": "C", "frame": 0, "at": 90}]}],
 *      "activeProfileIndex": 0}
 *
 * The active profile is the longest. A path of functions is opened once and closed once. Its length
 * is the number of instructions that were executed on it, its own first, and then those of its
 * callees in the order of their first calls.
 *
 * Invariant: the end of a profile is the number of instructions of its thread.
 *
 * Not perfect: the order of events is not that of the run. Recursion does not make a path longer
 * (format/calls.h). Readers keep numbers as doubles, so digits beyond 2^53 are lost. */
#include "report/call_paths.h"
#include "report/export.h"
#include "report/json_writer.h"
#include "util/path.h"

/* The paths as a tree. */
struct path_tree {
    const call_path_vector *paths;
    uint32_t *first_child, *next; /* by path; 0: none */
};

/* Children stay in the order of the paths. */
static struct path_tree link_paths(struct arena *arena, const call_path_vector *paths) {
    struct path_tree tree = {.paths = paths,
                             .first_child = ARENA_ARRAY(arena, uint32_t, paths->count),
                             .next = ARENA_ARRAY(arena, uint32_t, paths->count)};
    for (uint32_t i = (uint32_t)paths->count - 1; i; i--) {
        uint32_t parent = vector_at(paths, i)->parent;
        tree.next[i] = tree.first_child[parent];
        tree.first_child[parent] = i;
    }
    return tree;
}

static void write_event(struct json_writer *json, const char *type, uint32_t frame, uint64_t at) {
    json_open_object(json, NULL);
    json_string(json, "type", type);
    json_unsigned(json, "frame", frame);
    json_unsigned(json, "at", at);
    json_close(json);
}

/* Writes the events of all paths below ROOT. Returns the number of instructions. */
static uint64_t write_events(struct json_writer *json, const struct path_tree *tree,
                             uint32_t root) {
    uint64_t at = vector_at(tree->paths, root)->count;
    uint32_t path = root, next = tree->first_child[root];
    while (next || path != root) {
        const struct call_path *entered = vector_at(tree->paths, next ? next : path);
        if (next) {
            write_event(json, "O", entered->function, at);
            at += entered->count;
            path = next;
            next = tree->first_child[path];
        } else {
            write_event(json, "C", entered->function, at);
            next = tree->next[path];
            path = entered->parent;
        }
    }
    return at;
}

/* Frames have the numbers of the functions. */
static void write_frames(struct json_writer *json, const struct places *places) {
    json_open_object(json, "shared");
    json_open_array(json, "frames");
    for (uint32_t i = 0; i < places->functions.count; i++) {
        const struct called_function *function = vector_at(&places->functions, i);
        json_open_object(json, NULL);
        json_string(json, "name", function->module ? function->demangled : "(not instrumented)");
        if (function->file)
            json_string(json, "file", *vector_at(&places->profile->files, function->file));
        if (function->line)
            json_unsigned(json, "line", function->line);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

/* Returns the number of its instructions. */
static uint64_t write_profile(struct json_writer *json, struct arena *arena,
                              const struct context_root *root, const struct path_tree *tree,
                              uint32_t path) {
    json_open_object(json, NULL);
    json_string(json, "type", "evented");
    json_string(json, "name", context_root_name(arena, root));
    json_string(json, "unit", "none");
    json_unsigned(json, "startValue", 0);
    json_open_array(json, "events");
    uint64_t end = write_events(json, tree, path);
    json_close(json);
    json_unsigned(json, "endValue", end);
    json_close(json);
    return end;
}

void export_speedscope(const struct export_input *input, FILE *out) {
    struct arena arena = {0};
    const struct contexts *contexts = input->contexts;
    uint32_t *roots;
    call_path_vector paths = find_call_paths(&arena, contexts, &roots);
    struct path_tree tree = link_paths(&arena, &paths);
    struct json_writer json = json_start(out, 3);
    json_open_object(&json, NULL);
    json_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_string(&json, "exporter", arena_print(&arena, "quipu %s", input->version));
    if (contexts->roots.count)
        json_string(&json, "name", last_part(contexts->roots.data[0].process->program));
    write_frames(&json, &contexts->places);
    json_open_array(&json, "profiles");
    uint64_t largest = 0;
    size_t active = 0;
    for (size_t i = 0; i < contexts->roots.count; i++) {
        uint64_t end = write_profile(&json, &arena, &contexts->roots.data[i], &tree, roots[i]);
        active = end > largest ? i : active;
        largest = end > largest ? end : largest;
    }
    json_close(&json);
    json_unsigned(&json, "activeProfileIndex", active);
    json_close(&json);
    json_end(&json);
    arena_release(&arena);
}
