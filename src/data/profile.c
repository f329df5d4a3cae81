/* profile.c: from data files and binaries to counts; see profile.h.
 *
 *     paths -> data files -> modules -> notes, lines, names        profile_open
 *     cells of the chosen slots, added up -> flow -> counts        profile_count */
#include "data/profile.h"

#include "data/binary.h"
#include "data/datafile.h"
#include "data/demangle.h"
#include "data/lines.h"
#include "data/notes.h"
#include "data/solve.h"
#include "util/diag.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void (*profile_progress)(const char *what, size_t done, size_t total);

/* A data file that was named, or found in a directory that was named. */
struct source {
    struct data_file file;
    bool from_directory;
    const char *stale; /* why its counts cannot be read any more; NULL: they can */
};

/* A profile and what it keeps open. */
struct open_profile {
    struct profile profile; /* first */
    VECTOR(struct source) sources;
};

void report_progress(const char *what, size_t done, size_t total) {
    if (profile_progress)
        profile_progress(what, done, total);
}

/* ---- finding data files ---- */

static void add_source(struct open_profile *open, const char *path, bool from_directory) {
    struct source source = {.from_directory = from_directory};
    const char *cause = data_file_open(&open->profile.arena, path, &source.file);
    if (cause)
        die("'%s': %s%s", path, cause,
            from_directory && cause != data_file_no_room
                ? "; move it away to read the directory's others"
                : "");
    vector_push(&open->profile.arena, &open->sources, source);
}

static int is_data_name(const struct dirent *entry) {
    static const char ending[] = ".quipu";
    size_t length = strlen(entry->d_name), end = sizeof ending - 1;
    return entry->d_name[0] != '.' && length > end &&
           strcmp(entry->d_name + length - end, ending) == 0;
}

static void add_directory(struct open_profile *open, const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, is_data_name, alphasort);
    if (count < 0)
        die("'%s': %s", path, strerror(errno));
    if (count == 0)
        die("'%s': it holds no data files (*.quipu); run a program built by 'quipu cc' first",
            path);
    for (int i = 0; i < count; i++) {
        report_progress("data files", (size_t)i, (size_t)count);
        add_source(open, arena_print(&open->profile.arena, "%s/%s", path, entries[i]->d_name),
                   true);
        free(entries[i]);
    }
    report_progress("data files", (size_t)count, (size_t)count);
    free(entries);
}

static void add_path(struct open_profile *open, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno == ENOENT)
            die("'%s': no such file or directory; run a program built by 'quipu cc' first, or name "
                "its data file or directory",
                path);
        die("'%s': %s", path, strerror(errno));
    }
    if (S_ISDIR(status.st_mode))
        add_directory(open, path);
    else
        add_source(open, path, false);
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

static bool same_build(const struct module *module, const struct data_module *wanted) {
    return strcmp(module->path, wanted->path) == 0 &&
           module->build_id_size == wanted->build_id_size &&
           memcmp(module->build_id, wanted->build_id, wanted->build_id_size) == 0 &&
           module->cells_address == wanted->cells_address &&
           module->cell_count == wanted->cell_count;
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
    vector_push(&profile->arena, &profile->modules, module);
    return NULL;
}

/* Finds or makes the module that WANTED of SOURCE names.  Returns NULL and why in source.stale
 * where its binary is gone or of another build. */
static struct module *open_module(struct open_profile *open, struct source *source,
                                  const struct data_module *wanted) {
    struct profile *profile = &open->profile;
    for (size_t i = 0; i < profile->modules.count; i++)
        if (same_build(profile->modules.data[i], wanted))
            return profile->modules.data[i];
    struct binary *binary;
    const char *cause = binary_open(&profile->arena, wanted->path, &binary);
    if (cause) {
        source->stale =
            arena_print(&profile->arena, "its binary '%s' cannot be read: %s", wanted->path, cause);
        return NULL;
    }
    source->stale = check_build(&profile->arena, binary, wanted);
    if (source->stale) {
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
                                           .cells = slot->cells}));
    }
}

static void add_process(struct open_profile *open, struct source *source) {
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
        if (!module)
            return;
        vector_push(&profile->arena, &process.modules, module);
    }
    add_threads(&profile->arena, &process, file);
    vector_push(&profile->arena, &profile->processes, process);
}

/* Ends the program where a stale file was named itself or no other is left; else warns once. */
static void check_stale(const struct open_profile *open) {
    const struct source *first = NULL;
    size_t stale = 0;
    for (size_t i = 0; i < open->sources.count; i++) {
        const struct source *source = &open->sources.data[i];
        if (!source->stale)
            continue;
        if (!source->from_directory)
            die("'%s': %s", source->file.path, source->stale);
        first = first ? first : source;
        stale++;
    }
    if (!stale)
        return;
    if (open->profile.processes.count == 0)
        die("'%s': %s", first->file.path, first->stale);
    warn("%zu of %zu data files left out, their binaries are gone or of another build; the first: "
         "'%s': %s",
         stale, open->sources.count, first->file.path, first->stale);
}

static struct open_profile *make_profile(void) {
    struct open_profile *open = calloc(1, sizeof *open);
    if (!open)
        die("out of memory: %zu bytes asked for", sizeof *open);
    vector_push(&open->profile.arena, &open->profile.files, "");
    return open;
}

struct profile *profile_open(char *const *paths, size_t path_count) {
    struct open_profile *open = make_profile();
    for (size_t i = 0; i < path_count; i++)
        add_path(open, paths[i]);
    if (!path_count) {
        const char *directory = getenv("QUIPU_DATA");
        add_path(open, directory && *directory ? directory : "quipu.data");
    }
    for (size_t i = 0; i < open->sources.count; i++) {
        report_progress("processes", i, open->sources.count);
        add_process(open, &open->sources.data[i]);
    }
    report_progress("processes", open->sources.count, open->sources.count);
    check_stale(open);
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
    struct source *source = &open->sources.data[0];
    struct process *process = &profile->processes.data[0];
    struct data_file file;
    const char *cause = data_file_open(&profile->arena, process->file, &file);
    if (cause)
        die("'%s': %s", process->file, cause);
    bool same = file.modules.count == process->modules.count;
    if (same) { /* modules are only ever added */
        data_file_close(&source->file);
        source->file = file;
        process->threads.count = 0;
        add_threads(&profile->arena, process, &file);
    } else {
        data_file_close(&file);
    }
    return same;
}

static bool is_running(const struct process *process) {
    return !process->merged && process->pid &&
           (kill((pid_t)process->pid, 0) == 0 || errno == EPERM);
}

void profile_hold(struct profile *profile) {
    for (size_t i = 0; i < profile->processes.count; i++) {
        struct process *process = &profile->processes.data[i];
        bool running = is_running(process);
        for (size_t j = 0; running && j < process->threads.count; j++) {
            struct thread_cells *thread = &process->threads.data[j];
            if (!thread->cells)
                continue;
            size_t count = thread->module->cell_count;
            uint64_t *copy = ARENA_ARRAY(&profile->arena, uint64_t, count);
            for (size_t k = 0; k < count; k++)
                copy[k] = thread->cells[k];
            thread->cells = copy;
        }
    }
}

uint64_t thread_events(const struct thread_cells *thread, enum quipu_event kind) {
    if (thread->events)
        return thread->events[kind];
    const volatile uint64_t *words = thread->cells + thread->module->first_event;
    uint64_t count = kind == QUIPU_EVENT_TICKS ? words[QUIPU_EVENT_BASE / 8] : 0;
    for (uint32_t lane = 0; lane < quipu_lanes(kind); lane++)
        count += words[quipu_first_cell(kind) + lane];
    return count;
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
    for (size_t i = 0; i < open->sources.count; i++)
        data_file_close(&open->sources.data[i].file);
    arena_release(&profile->arena);
    free(open);
}

/* ---- counts ---- */

/* Adds up MODULE's cells over the chosen slots.  The result lives in ARENA. */
static uint64_t *sum_cells(struct arena *arena, const struct profile *profile,
                           const struct module *module, struct selection selection) {
    uint64_t *sums = ARENA_ARRAY(arena, uint64_t, module->cell_count);
    for (size_t i = 0; i < profile->processes.count; i++) {
        const struct process *process = &profile->processes.data[i];
        if (selection.process && selection.process != process)
            continue;
        if (!selection.process)
            report_progress("counts", i, profile->processes.count);
        for (size_t j = 0; j < process->threads.count; j++) {
            const struct thread_cells *thread = &process->threads.data[j];
            if (thread->module != module || (selection.owner && selection.owner != thread->owner))
                continue;
            for (size_t k = 0; k < module->cell_count; k++)
                sums[k] += thread->cells[k];
        }
    }
    if (!selection.process)
        report_progress("counts", profile->processes.count, profile->processes.count);
    return sums;
}

static void count_instructions(struct function *function) {
    function->executed = 0;
    function->never_executed = 0;
    for (size_t i = 0; i < function->block_count; i++) {
        const struct block *block = &function->blocks[i];
        uint32_t running = block->instruction_count - block->jumped_over;
        for (uint32_t j = 0; j < block->instruction_count; j++) {
            uint64_t count = j < running ? (uint64_t)block->count : 0;
            function->instructions[block->first_instruction + j].count = count;
            function->executed += count;
            function->never_executed += count == 0;
        }
    }
}

static void count_calls(struct function *function) {
    function->calls = 0;
    for (size_t i = 0; i < function->edge_count; i++)
        if (function->edges[i].kind == QUIPU_EDGE_ENTRY)
            function->calls += (uint64_t)function->edges[i].count;
}

void profile_count(struct profile *profile, struct selection selection) {
    struct solver solver = {0};
    profile->executed = 0;
    for (size_t i = 0; i < profile->modules.count; i++) {
        struct module *module = profile->modules.data[i];
        struct arena scratch = {0};
        const uint64_t *cells = sum_cells(&scratch, profile, module, selection);
        module->executed = 0;
        for (size_t j = 0; j < module->functions.count; j++) {
            struct function *function = &module->functions.data[j];
            CHECK(solve_flow(&solver, function, cells + function->first_cell));
            count_instructions(function);
            count_calls(function);
            module->executed += function->executed;
        }
        profile->executed += module->executed;
        arena_release(&scratch);
    }
    solver_release(&solver);
}
