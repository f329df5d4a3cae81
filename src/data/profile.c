/* profile.c: from data files and binaries to counts; see profile.h.
 *
 *     paths -> data files -> modules -> notes, lines, names        profile_open
 *     cells of the chosen slots, added up -> flow -> counts        counts.c */
#include "data/profile.h"

#include "data/binary.h"
#include "data/demangle.h"
#include "data/lines.h"
#include "data/notes.h"
#include "data/sources.h"
#include "util/diag.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void (*profile_progress)(const char *what, size_t done, size_t total);

/* A profile and what it keeps open. */
struct open_profile {
    struct profile profile; /* first */
    struct data_sources sources;
    struct map builds; /* of modules: number by same_build's key */
};

void report_progress(const char *what, size_t done, size_t total) {
    if (profile_progress)
        profile_progress(what, done, total);
}

bool profile_is_data(const char *path) {
    struct stat status;
    return (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) || data_file_here(path);
}

/* ---- modules ---- */

enum {
    SHOWN = 6 /* bytes of a build id in a message */
};

/* The first bytes of a build id, for a message. */
static const char *print_build_id(struct arena *arena, const uint8_t *bytes, size_t size) {
    if (!size)
        return "none";
    char text[2 * SHOWN + 1] = "";
    size_t shown = size;
    if (shown > SHOWN)
        shown = SHOWN;
    for (size_t i = 0; i < shown; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return arena_print(arena, "%s%s", text, size > shown ? "..." : "");
}

/* What tells builds from each other. */
static const char *build_key(struct arena *arena, const struct data_module *wanted, size_t *size) {
    size_t path = strlen(wanted->path) + 1;
    uint64_t numbers[] = {wanted->cells_address, wanted->cell_count};
    *size = path + sizeof numbers + wanted->build_id_size;
    char *key = arena_alloc(arena, *size);
    memcpy(key, wanted->path, path);
    memcpy(key + path, numbers, sizeof numbers);
    memcpy(key + path + sizeof numbers, wanted->build_id, wanted->build_id_size);
    return key;
}

static const char *check_build(struct arena *arena, const struct binary *binary,
                               const struct data_module *wanted) {
    if (binary->build_id_size != wanted->build_id_size ||
        memcmp(binary->build_id, wanted->build_id, wanted->build_id_size) != 0)
        return arena_print(
            arena,
            "its counts are of another build of '%s' (build id %s, the file there has %s); run the "
            "program again",
            wanted->path, print_build_id(arena, wanted->build_id, wanted->build_id_size),
            print_build_id(arena, binary->build_id, binary->build_id_size));
    if (binary->cells_address != wanted->cells_address ||
        binary->cells_size / sizeof(uint64_t) != wanted->cell_count)
        return arena_print(arena,
                           "its counts are of another build of '%s' (their number or place "
                           "differs); run the program again",
                           wanted->path);
    return NULL;
}

static void set_names(struct arena *arena, struct module *module) {
    VECTOR(struct symbol) symbols = {0};
    for (size_t i = 0; i < module->functions.count; i++) {
        struct function *function = &module->functions.data[i];
        function->demangled = demangle(arena, function->name);
        vector_push(arena, &symbols, ((struct symbol){function->address, 0, function->name}));
    }
    binary_add_symbols(arena, module->binary, symbols.data, symbols.count);
}

/* Reads all that the binary tells of MODULE.  Returns NULL, or what is wrong with it. */
static const char *read_binary(struct open_profile *open, struct module *module) {
    struct profile *profile = &open->profile;
    const char *cause = notes_read(&profile->arena, module);
    if (cause)
        return cause;
    lines_read(profile, module);
    set_names(&profile->arena, module);
    module->number = profile->modules.count;
    vector_push(&profile->arena, &profile->modules, module);
    return NULL;
}

/* Finds or makes the module that WANTED of SOURCE names.  Returns NULL and why in source.wrong
 * where its binary is gone or of another build. */
static struct module *open_module(struct open_profile *open, struct data_source *source,
                                  const struct data_module *wanted) {
    struct profile *profile = &open->profile;
    size_t key_size;
    const char *key = build_key(&profile->arena, wanted, &key_size);
    const uint32_t *known = map_find(&open->builds, key, key_size);
    if (known)
        return *vector_at(&profile->modules, *known);
    struct binary *binary;
    const char *cause = binary_open(&profile->arena, wanted->path, &binary);
    if (cause) {
        source->wrong =
            arena_print(&profile->arena, "its binary '%s' cannot be read: %s", wanted->path, cause);
        return NULL;
    }
    source->wrong = check_build(&profile->arena, binary, wanted);
    if (source->wrong) {
        binary_close(binary);
        return NULL;
    }
    struct module *module = ARENA_NEW(&profile->arena, struct module);
    module->path = wanted->path;
    memcpy(module->build_id, wanted->build_id, wanted->build_id_size);
    module->build_id_size = wanted->build_id_size;
    module->cells_address = wanted->cells_address;
    module->cell_count = wanted->cell_count;
    module->binary = binary;
    cause = read_binary(open, module);
    if (cause)
        die("'%s': %s", wanted->path, cause);
    map_add(&profile->arena, &open->builds, key, key_size, (uint32_t)module->number);
    return module;
}

/* ---- processes ---- */

/* The slots of FILE, whose modules the process has. */
static void add_threads(struct arena *arena, struct process *process,
                        const struct data_file *file) {
    process->load_biases = ARENA_ARRAY(arena, uint64_t, file->modules.count);
    for (size_t i = 0; i < file->modules.count; i++)
        process->load_biases[i] = file->modules.data[i].load_bias;
    for (size_t i = 0; i < file->slots.count; i++) {
        const struct data_slot *slot = &file->slots.data[i];
        vector_push(arena, &process->threads,
                    ((struct thread_cells){.module = *vector_at(&process->modules, slot->module),
                                           .owner = slot->owner,
                                           .threads = slot->threads,
                                           .slot = slot->slot,
                                           .offset = slot->offset}));
    }
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
        .merged = file->merged,
        .incomplete = file->incomplete,
    };
    if (file->incomplete)
        warn("'%s': the run could not keep all counts, as it said then; these are too low",
             file->path);
    for (size_t i = 0; i < file->modules.count; i++) {
        struct module *module = open_module(open, source, &file->modules.data[i]);
        if (!module) {
            source->stale = true;
            return;
        }
        vector_push(&profile->arena, &process.modules, module);
    }
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
        report_progress("processes", i, sources->count);
        if (!source->wrong)
            add_process(open, source);
        if (source->wrong)
            vector_push(&open->profile.arena, &open->profile.left_out,
                        ((struct left_out){source->file.path, source->wrong}));
    }
    report_progress("processes", sources->count, sources->count);
}

struct profile *profile_open(char *const *paths, size_t path_count) {
    struct open_profile *open = make_profile();
    sources_read(&open->sources, paths, path_count);
    add_processes(open);
    sources_check(&open->sources, false);
    return &open->profile;
}

static bool has_counts(const struct module *module) {
    static const char count[] = "count,"; /* the first of a unit's options */
    for (size_t i = 0; i < module->units.count; i++)
        if (strncmp(module->units.data[i].options, count, sizeof count - 1) == 0)
            return true;
    return module->functions.count;
}

bool profile_has_counts(const struct profile *profile) {
    for (size_t i = 0; i < profile->modules.count; i++)
        if (has_counts(profile->modules.data[i]))
            return true;
    return false;
}

void profile_need_counts(const struct profile *profile) {
    if (!profile_has_counts(profile))
        die("'%s': it holds no counts of functions; build the program with 'quipu cc "
            "--quipu=count' and run it again",
            profile->processes.count ? profile->processes.data[0].file : "the data");
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
    if (same) { /* modules are only ever added */
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
    cause = read_binary(open, module);
    if (cause)
        die("'%s': %s", path, cause);
    return &open->profile;
}

void profile_close(struct profile *profile) {
    struct open_profile *open = (struct open_profile *)profile;
    for (size_t i = 0; i < profile->modules.count; i++)
        binary_close(profile->modules.data[i]->binary);
    sources_release(&open->sources);
    arena_release(&profile->arena);
    free(open);
}
