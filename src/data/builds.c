/* builds.c: the binaries of a run, each build read once; see builds.h.
 *
 * A run may have several binaries, and one build under several paths. Each build is read by one
 * worker, into a profile of its own. Then its source files are numbered among those of all, so the
 * numbers do not depend on the speed of the workers. */
#include "data/builds.h"

#include "data/lines.h"
#include "data/notes.h"
#include "data/tasks.h"
#include "format/data_file.h"
#include "symbols/binary.h"
#include "symbols/demangle.h"
#include "symbols/moved.h"
#include "util/diag.h"
#include "x86/decode.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- the list of builds ---- */

/* Identifies a build: by its id, or by its path if it has none; and by its cells. */
struct key {
    uint64_t numbers[3];
    char name[QUIPU_PAGE];
};

static size_t make_key(const struct data_module *wanted, struct key *key) {
    const void *name = wanted->build_id_size ? (const void *)wanted->build_id : wanted->path;
    size_t length = wanted->build_id_size ? wanted->build_id_size : strlen(wanted->path);
    *key =
        (struct key){.numbers = {wanted->cells_address, wanted->cell_count, wanted->build_id_size}};
    memcpy(key->name, name, length);
    return offsetof(struct key, name) + length;
}

struct build_path *find_build_path(const struct build *build, const char *path) {
    for (size_t i = 0; i < build->paths.count; i++)
        if (strcmp(build->paths.data[i].path, path) == 0)
            return &build->paths.data[i];
    return NULL;
}

uint32_t find_build(struct builds *builds, const struct data_module *wanted) {
    struct key key;
    size_t size = make_key(wanted, &key);
    uint32_t fresh = (uint32_t)builds->list.count;
    uint32_t number = *map_add_copy(&builds->arena, &builds->numbers, &key, size, fresh);
    if (number == fresh)
        vector_push(&builds->arena, &builds->list, ((struct build){.wanted = wanted}));
    struct build *build = vector_at(&builds->list, number);
    if (!find_build_path(build, wanted->path))
        vector_push(&builds->arena, &build->paths, ((struct build_path){.path = wanted->path}));
    return number;
}

/* ---- the check of a binary ---- */

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

static const char *check_build(struct arena *arena, const struct binary *binary,
                               const struct data_module *wanted, const char *path) {
    if (binary->build_id_size != wanted->build_id_size ||
        memcmp(binary->build_id, wanted->build_id, wanted->build_id_size) != 0)
        return arena_print(
            arena,
            "its counts are of another build of '%s' (build id %s, the file there has %s); run the "
            "program again",
            path, print_build_id(arena, wanted->build_id, wanted->build_id_size),
            print_build_id(arena, binary->build_id, binary->build_id_size));
    if (binary->cells_address != wanted->cells_address ||
        binary->cells_size / sizeof(uint64_t) != wanted->cell_count)
        return arena_print(arena,
                           "its counts are of another build of '%s' (their number or place "
                           "differs); run the program again",
                           path);
    return NULL;
}

/* Opens the binary at PATH. If it is another build, returns NULL and sets path.wrong. */
static struct binary *open_build_path(struct arena *arena, const struct data_module *wanted,
                                      struct build_path *path) {
    struct binary *binary;
    const char *cause = binary_open(arena, path->path, &binary);
    if (cause) {
        path->wrong = arena_print(arena,
                                  "its binary '%s' cannot be read: %s; if it was moved, name its "
                                  "directory in QUIPU_BINARIES",
                                  path->path, cause);
        path->gone = access(path->path, F_OK) != 0 && errno == ENOENT;
        return NULL;
    }
    path->wrong = check_build(arena, binary, wanted, path->path);
    if (!path->wrong)
        return binary;
    binary_close(binary);
    return NULL;
}

/* ---- reading ---- */

static void set_names(struct arena *arena, struct module *module) {
    VECTOR(struct symbol) symbols = {0};
    for (size_t i = 0; i < module->functions.count; i++) {
        struct function *function = &module->functions.data[i];
        function->demangled = demangle(arena, function->name);
        vector_push(arena, &symbols, ((struct symbol){function->address, 0, function->name}));
    }
    binary_add_symbols(arena, module->binary, symbols.data, symbols.count);
}

const char *read_binary(struct profile *profile, struct module *module) {
    const char *cause = notes_read(&profile->arena, module);
    if (cause)
        return cause;
    lines_read(profile, module);
    set_names(&profile->arena, module);
    return NULL;
}

struct module *make_module(struct arena *arena, const struct data_module *wanted,
                           const char *path) {
    struct module *module = ARENA_NEW(arena, struct module);
    module->path = path;
    memcpy(module->build_id, wanted->build_id, wanted->build_id_size);
    module->build_id_size = wanted->build_id_size;
    module->cells_address = wanted->cells_address;
    return module;
}

/* Makes the build's module of BINARY, which ran as PATH, or sets path.wrong to the error. */
static void read_build_binary(struct build *build, struct build_path *path, struct binary *binary) {
    const struct data_module *wanted = build->wanted;
    struct arena *arena = &build->own.arena;
    struct module *module = make_module(arena, wanted, path->path);
    module->cell_count = wanted->cell_count;
    module->binary = binary;
    const char *cause = read_binary(&build->own, module);
    if (!cause) {
        build->module = module;
        return;
    }
    path->wrong = arena_print(arena, "its binary '%s': %s", path->path, cause);
    binary_close(binary);
}

/* Reads the binary at PATH, or sets path.wrong to the error. */
static void read_build_path(struct build *build, struct build_path *path) {
    struct binary *binary = open_build_path(&build->own.arena, build->wanted, path);
    if (binary)
        read_build_binary(build, path, binary);
}

/* Reads the binary that was at PATH from where the user says that it is now. */
static void read_moved(struct build *build, struct build_path *path) {
    const struct data_module *wanted = build->wanted;
    struct binary *binary =
        open_moved(&build->own.arena, path->path, wanted->build_id, wanted->build_id_size);
    if (!binary)
        return;
    const char *wrong = check_build(&build->own.arena, binary, wanted, binary->path);
    if (!wrong) {
        read_build_binary(build, path, binary);
        return;
    }
    path->wrong = wrong;
    binary_close(binary);
}

static const char *read_build(void *context, size_t worker, size_t number) {
    (void)worker;
    struct builds *builds = context;
    struct build *build = &builds->list.data[number];
    vector_push(&build->own.arena, &build->own.files, "");
    for (size_t i = 0; !build->module && i < build->paths.count; i++)
        read_build_path(build, &build->paths.data[i]);
    for (size_t i = 0; !build->module && i < build->paths.count; i++)
        read_moved(build, &build->paths.data[i]);
    return NULL;
}

/* ---- one profile ---- */

static void renumber_files(struct function *function, const uint32_t *numbers) {
    function->file = numbers[function->file];
    if (!function->file)
        function->line = 0;
    for (size_t i = 0; i < function->instruction_count; i++) {
        struct instruction *instruction = &function->instructions[i];
        instruction->file = (uint16_t)numbers[instruction->file];
        if (!instruction->file)
            instruction->line = 0;
    }
}

static void add_module(struct profile *profile, const struct build *build) {
    struct arena scratch = {0};
    struct module *module = build->module;
    uint32_t *numbers = ARENA_ARRAY(&scratch, uint32_t, build->own.files.count);
    for (size_t i = 1; i < build->own.files.count; i++)
        numbers[i] = profile_file(profile, build->own.files.data[i]);
    for (size_t i = 0; i < module->functions.count; i++)
        renumber_files(&module->functions.data[i], numbers);
    module->number = profile->modules.count;
    vector_push(&profile->arena, &profile->modules, module);
    arena_release(&scratch);
}

void read_builds(struct builds *builds, struct profile *profile) {
    size_t failed;
    struct decoded decoded;
    (void)decode_instruction(
        (const uint8_t[]){0x90}, 1,
        &decoded); /* it initializes itself, which must happen before there are threads */
    (void)do_tasks(&(struct tasks){.what = "binaries",
                                   .count = builds->list.count,
                                   .few = true,
                                   .run = read_build,
                                   .context = builds},
                   &failed);
    for (size_t i = 0; i < builds->list.count; i++)
        if (builds->list.data[i].module)
            add_module(profile, &builds->list.data[i]);
}

void release_builds(struct builds *builds) {
    for (size_t i = 0; i < builds->list.count; i++)
        arena_release(&builds->list.data[i].own.arena);
    arena_release(&builds->arena);
}
