/* profile.c: from data files and binaries to counts; see profile.h.
 *
 *     paths -> data files -> modules -> notes, lines, names        profile_open
 *     cells of the chosen slots, added up -> flow -> counts        counts.c */
#include "data/profile.h"

#include "data/builds.h"
#include "data/sources.h"
#include "symbols/binary.h"
#include "util/diag.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FILES_MAX = UINT16_MAX /* an instruction has a file index of 16 bits */
};

/* A profile and its open resources. */
struct open_profile {
    struct profile profile; /* must be the first member */
    struct data_sources sources;
    struct builds builds;
};

bool profile_is_data(const char *path) {
    struct stat status;
    return (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) || data_file_here(path);
}

uint32_t profile_file(struct profile *profile, const char *path) {
    const uint32_t *known = map_find(&profile->file_numbers, path, strlen(path));
    if (known)
        return *known;
    if (profile->files.count > FILES_MAX)
        return 0;
    uint32_t number = (uint32_t)profile->files.count;
    char *kept = arena_copy(&profile->arena, path, strlen(path));
    map_add(&profile->arena, &profile->file_numbers, kept, strlen(kept), number);
    vector_push(&profile->arena, &profile->files, kept);
    return number;
}

/* ---- processes ---- */

/* Adds the slots of FILE. The process has its modules already. */
static void add_threads(struct arena *arena, struct process *process,
                        const struct data_file *file) {
    process->load_biases = ARENA_ARRAY(arena, uint64_t, file->modules.count);
    for (size_t i = 0; i < file->modules.count; i++)
        process->load_biases[i] = file->modules.data[i].load_bias;
    for (size_t i = 0; i < file->slots.count; i++) {
        const struct data_slot *slot = &file->slots.data[i];
        struct module *module = *vector_at(&process->modules, slot->module);
        if (!module->binary)
            continue;
        vector_push(arena, &process->threads,
                    ((struct thread_cells){.module = module,
                                           .module_number = slot->module,
                                           .owner = slot->owner,
                                           .threads = slot->threads,
                                           .slot = slot->slot,
                                           .offset = slot->offset}));
    }
}

/* Returns the module of PROCESS that WANTED identifies. Returns NULL if it does not exist, and sets
 * source.wrong. A plug-in may have been removed behind the run: then its counts are left out, and
 * source.partly is set. A binary that was built anew, or a program that is gone, means that the
 * data is old. */
static struct module *find_module(struct open_profile *open, struct data_source *source,
                                  const struct data_module *wanted) {
    const struct build *build = vector_at(&open->builds.list, find_build(&open->builds, wanted));
    if (build->module)
        return build->module;
    const struct build_path *path = find_build_path(build, wanted->path);
    if (path->gone && strcmp(wanted->path, source->file.program) != 0) {
        source->partly = source->partly ? source->partly : path->wrong;
        return make_module(&open->profile.arena, wanted, wanted->path);
    }
    source->wrong = path->wrong;
    source->stale = true;
    return NULL;
}

/* Adds the modules of SOURCE. If none is left, or the data is old, returns false and sets
 * source.wrong. */
static bool add_modules(struct open_profile *open, struct data_source *source,
                        struct process *process) {
    const struct data_file *file = &source->file;
    bool any = !file->modules.count;
    for (size_t i = 0; i < file->modules.count; i++) {
        struct module *module = find_module(open, source, &file->modules.data[i]);
        if (!module)
            return false;
        any |= module->binary != NULL;
        vector_push(&open->profile.arena, &process->modules, module);
    }
    if (!any) {
        source->wrong = source->partly;
        source->stale = true;
    }
    return any;
}

static void add_process(struct open_profile *open, struct data_source *source) {
    struct profile *profile = &open->profile;
    const struct data_file *file = &source->file;
    struct process process = {
        .data = file,
        .file = file->path,
        .program = file->program,
        .command = file->command,
        .pid = file->pid,
        .parent_pid = file->parent_pid,
        .start_time = file->start_time,
        .rank = file->rank,
        .merged = file->merged,
        .mixed = file->mixed,
        .processes = file->processes,
        .incomplete = file->incomplete,
    };
    if (!add_modules(open, source, &process))
        return;
    add_threads(&profile->arena, &process, file);
    vector_push(&profile->arena, &profile->processes, process);
}

static struct open_profile *make_profile(void) {
    struct open_profile *open = calloc(1, sizeof *open);
    if (!open)
        die("out of memory: %zu bytes asked for", sizeof *open);
    vector_push(&open->profile.arena, &open->profile.files, "");
    return open;
}

static void add_processes(struct open_profile *open) {
    struct data_sources *sources = &open->sources;
    for (size_t i = 0; i < sources->count; i++) {
        struct data_source *source = &sources->list[i];
        if (!source->wrong)
            add_process(open, source);
        if (source->wrong)
            vector_push(&open->profile.arena, &open->profile.left_out,
                        ((struct left_out){source->file.path, source->wrong}));
    }
}

/* Warns of the processes that HAS selects: WHAT of all of them at once. */
static void warn_of(const struct profile *profile, bool (*has)(const struct process *process),
                    const char *what) {
    const char *first = NULL;
    size_t more = 0;
    for (size_t i = 0; i < profile->processes.count; i++)
        if (has(&profile->processes.data[i])) {
            more += first != NULL;
            first = first ? first : profile->processes.data[i].file;
        }
    struct arena arena = {0};
    if (first)
        warn("'%s'%s: %s", first, more ? arena_print(&arena, " and %zu more", more) : "", what);
    arena_release(&arena);
}

static bool is_incomplete(const struct process *process) {
    return process->incomplete;
}

struct profile *profile_open(char *const *paths, size_t path_count) {
    struct open_profile *open = make_profile();
    sources_read(&open->sources, paths, path_count);
    for (size_t i = 0; i < open->sources.count; i++) {
        const struct data_source *source = &open->sources.list[i];
        for (size_t j = 0; !source->wrong && j < source->file.modules.count; j++)
            (void)find_build(&open->builds, &source->file.modules.data[j]);
    }
    read_builds(&open->builds, &open->profile);
    add_processes(open);
    sources_check(&open->sources, false);
    warn_of(&open->profile, is_incomplete,
            "the run could not keep all counts, as it said then; some may be too low");
    return &open->profile;
}

bool module_has_counts(const struct module *module) {
    static const char count[] = "count,"; /* the first of a unit's options */
    for (size_t i = 0; i < module->units.count; i++)
        if (strncmp(module->units.data[i].options, count, sizeof count - 1) == 0)
            return true;
    return module->functions.count;
}

bool profile_has_counts(const struct profile *profile) {
    for (size_t i = 0; i < profile->modules.count; i++)
        if (module_has_counts(profile->modules.data[i]))
            return true;
    return false;
}

void profile_need_counts(const struct profile *profile) {
    if (!profile_has_counts(profile))
        die("'%s': it holds no counts of functions; build the program with 'quipu cc "
            "--quipu=count' and run it again",
            profile->processes.count ? profile->processes.data[0].file : "the data");
}

static bool is_uncounted(const struct process *process) {
    bool counted = !process->modules.count;
    for (size_t i = 0; i < process->modules.count; i++)
        counted |= module_has_counts(process->modules.data[i]);
    return !counted;
}

void profile_warn_uncounted(const struct profile *profile) {
    warn_of(profile, is_uncounted,
            "no counts of functions (built without '--quipu=count'); the totals leave them out");
}

bool profile_refresh(struct profile *profile) {
    struct open_profile *open = (struct open_profile *)profile;
    CHECK(open->sources.count == 1 && profile->processes.count == 1);
    struct data_file *known = &open->sources.list[0].file;
    struct process *process = &profile->processes.data[0];
    struct data_file file;
    const char *cause = data_file_read(&profile->arena, process->file, &file);
    if (cause)
        die("'%s': %s", process->file, cause);
    bool same = file.modules.count == process->modules.count;
    if (same) { /* modules are never removed */
        *known = file;
        process->threads.count = 0;
        add_threads(&profile->arena, process, &file);
    }
    return same;
}

struct profile *profile_open_binary(const char *path) {
    struct open_profile *open = make_profile();
    struct arena *arena = &open->profile.arena;
    struct module *module = ARENA_NEW(arena, struct module);
    const char *cause = binary_open(arena, path, &module->binary);
    if (cause)
        die("'%s': %s", path, cause);
    module->path = module->binary->path;
    module->build_id_size = module->binary->build_id_size;
    if (module->build_id_size)
        memcpy(module->build_id, module->binary->build_id, module->build_id_size);
    module->cells_address = module->binary->cells_address;
    module->cell_count = module->binary->cells_size / sizeof(uint64_t);
    cause = read_binary(&open->profile, module);
    if (cause)
        die("'%s': %s", path, cause);
    vector_push(arena, &open->profile.modules, module);
    return &open->profile;
}

void profile_close(struct profile *profile) {
    struct open_profile *open = (struct open_profile *)profile;
    for (size_t i = 0; i < profile->modules.count; i++)
        binary_close(profile->modules.data[i]->binary);
    sources_release(&open->sources);
    release_builds(&open->builds);
    arena_release(&profile->arena);
    free(open);
}
