/* merge.c: quipu merge -o OUT DATA...: adds up data files; see merge.h.
 *
 * The cells of all processes and threads are added up by build of module, into one slot each.
 * Calling contexts are added up into one tree. Only these need the binaries, since their addresses
 * have a meaning only together with the modules' code. The result is a data file like any other, so
 * it can be merged again. Its program and command are those of the first file. Its start is the
 * earliest one.
 *
 * Not perfect: it is not recorded which process and thread made a count. */
#include "cmd/merge.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "format/data_file.h"

#include "cmd/merge_calls.h"
#include "data/sources.h"
#include "data/tasks.h"
#include "report/progress.h"
#include "report/unfinished.h"
#include "util/buffer.h"
#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A build of a module, and its sums. */
struct merged_module {
    const struct data_module *module; /* as in the first file that has it */
    const char *file;                 /* that file */
    uint64_t *cells;                  /* NULL: no thread has counted in it */
    uint64_t threads;
};

struct merge {
    struct arena arena;
    struct data_sources sources;
    VECTOR(const char *) contexts; /* data files with calling contexts */
    VECTOR(struct merged_module *) modules;
    struct merged_module ***of_files; /* by the number of the source and of its module */
    struct quipu_file header;
    bool uncounted; /* a source does not say of how many processes it is */
    bool shared;    /* several workers add to the sums */
};

/* ---- sums ---- */

static bool same_build(const struct data_module *a, const struct data_module *b) {
    bool same_cells = a->cells_address == b->cells_address && a->cell_count == b->cell_count;
    if (!same_cells || a->build_id_size != b->build_id_size)
        return false;
    if (a->build_id_size)
        return memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
    return strcmp(a->path, b->path) == 0; /* without build ids, the paths decide */
}

/* Returns the sums of MODULE, which is in FILE. Adds them if the build is new. */
static struct merged_module *find_module(struct merge *merge, const char *file,
                                         const struct data_module *module) {
    for (size_t i = 0; i < merge->modules.count; i++) {
        struct merged_module *merged = merge->modules.data[i];
        if (same_build(merged->module, module))
            return merged;
        if (strcmp(merged->module->path, module->path) == 0)
            die("'%s' and '%s' come from different builds of '%s'; merge the runs of one build",
                merged->file, file, module->path);
    }
    struct merged_module *merged = ARENA_NEW(&merge->arena, struct merged_module);
    *merged = (struct merged_module){.module = module, .file = file};
    vector_push(&merge->arena, &merge->modules, merged);
    return merged;
}

static void read_header(const struct data_file *file, struct quipu_file *header) {
    struct data_reader reader;
    const void *bytes = NULL;
    const char *cause = data_reader_open(&reader, file);
    if (!cause)
        bytes = data_reader_bytes(&reader, 0, sizeof *header, &cause);
    if (!bytes)
        die("'%s': %s", file->path, cause);
    memcpy(header, bytes, sizeof *header);
    data_reader_close(&reader);
}

/* Makes the header of the result: that of the first file, with the earliest start. */
static void add_header(struct merge *merge, const struct data_file *file) {
    struct quipu_file *header = &merge->header;
    if (!header->version) {
        struct quipu_file first;
        read_header(file, &first);
        memcpy(header->magic, QUIPU_FILE_MAGIC, sizeof header->magic);
        header->version = QUIPU_FILE_VERSION;
        header->header_size = QUIPU_PAGE;
        header->flags = QUIPU_FILE_MERGED;
        header->start_time = file->start_time;
        memcpy(header->program, first.program, sizeof header->program);
        memcpy(header->command, first.command, sizeof header->command);
    }
    if (file->start_time < header->start_time)
        header->start_time = file->start_time;
    merge->uncounted |= !file->processes;
    header->processes = merge->uncounted ? 0 : header->processes + file->processes;
    if (file->mixed || strncmp(file->program, header->program, sizeof header->program) != 0)
        header->flags |= QUIPU_FILE_MIXED;
    if (file->incomplete)
        header->flags |= QUIPU_FILE_INCOMPLETE;
}

/* Adds everything of source NUMBER except its cells. */
static void add_file(struct merge *merge, size_t number) {
    const struct data_file *file = &merge->sources.list[number].file;
    struct merged_module **modules =
        ARENA_ARRAY(&merge->arena, struct merged_module *, file->modules.count);
    add_header(merge, file);
    if (file->contexts.count)
        vector_push(&merge->arena, &merge->contexts, file->path);
    for (size_t i = 0; i < file->modules.count; i++)
        modules[i] = find_module(merge, file->path, &file->modules.data[i]);
    for (size_t i = 0; i < file->slots.count; i++) {
        struct merged_module *merged = modules[file->slots.data[i].module];
        if (!merged->cells)
            merged->cells = ARENA_ARRAY(&merge->arena, uint64_t, merged->module->cell_count);
        merged->threads += file->slots.data[i].threads;
    }
    merge->of_files[number] = modules;
}

static const char *add_source(void *context, size_t worker, size_t number) {
    (void)worker;
    const struct merge *merge = context;
    const struct data_source *source = &merge->sources.list[number];
    struct data_reader reader;
    if (source->wrong)
        return NULL;
    const char *cause = data_reader_open(&reader, &source->file);
    for (size_t i = 0; !cause && i < source->file.slots.count; i++) {
        const struct data_slot *slot = &source->file.slots.data[i];
        const struct merged_module *merged = merge->of_files[number][slot->module];
        cause = data_reader_add(&reader, slot->offset, merged->module->cell_count, merged->cells,
                                merge->shared);
    }
    data_reader_close(&reader);
    return cause;
}

static void add_all(struct merge *merge) {
    const struct data_sources *sources = &merge->sources;
    size_t failed;
    merge->of_files = ARENA_ARRAY(&merge->arena, struct merged_module **, sources->count);
    merge->shared = count_workers(sources->count) > 1;
    for (size_t i = 0; i < sources->count; i++)
        if (!sources->list[i].wrong)
            add_file(merge, i);
    const char *cause = do_tasks(
        &(struct tasks){
            .what = "counts", .count = sources->count, .run = add_source, .context = merge},
        &failed);
    if (cause)
        die("'%s': %s", sources->list[failed].file.path, cause);
}

/* ---- the result ---- */

static uint64_t round_up(uint64_t size, uint64_t unit) {
    return (size + unit - 1) / unit * unit;
}

static void add_zeros(struct buffer *buffer, uint64_t count) {
    static const char zeros[QUIPU_PAGE];
    for (uint64_t part; count; count -= part) {
        part = count < sizeof zeros ? count : sizeof zeros;
        buffer_add(buffer, zeros, part);
    }
}

static void add_module_chunk(struct buffer *buffer, const struct merged_module *merged,
                             size_t number) {
    const struct data_module *module = merged->module;
    struct quipu_module chunk = {
        .chunk = {.kind = QUIPU_MODULE, .size = sizeof chunk},
        .cells_address = module->cells_address,
        .cells_size = module->cell_count * sizeof(uint64_t),
        .load_bias = merged_load_bias(number),
        .build_id_size = module->build_id_size,
    };
    _Static_assert(sizeof chunk == QUIPU_PAGE, "a module takes a page");
    memcpy(chunk.build_id, module->build_id, module->build_id_size);
    CHECK(strlen(module->path) < sizeof chunk.path);
    memcpy(chunk.path, module->path, strlen(module->path));
    buffer_add(buffer, &chunk, sizeof chunk);
}

static void add_blocks_chunk(struct buffer *buffer, const struct merged_module *merged,
                             uint32_t number) {
    enum {
        CELLS_OFFSET = 64
    };
    uint64_t cells_size = merged->module->cell_count * sizeof(uint64_t);
    uint64_t slot_size = round_up(cells_size ? cells_size : 1, 64);
    uint64_t size = round_up(CELLS_OFFSET + slot_size, QUIPU_PAGE);
    struct quipu_blocks chunk = {
        .chunk = {.kind = QUIPU_BLOCKS, .size = size},
        .module = number,
        .slot_count = 1,
        .slot_size = slot_size,
        .cells_offset = CELLS_OFFSET,
    };
    struct quipu_slot slot = {.threads = merged->threads < UINT32_MAX ? (uint32_t)merged->threads
                                                                      : UINT32_MAX};
    _Static_assert(sizeof chunk + sizeof slot <= CELLS_OFFSET, "one slot stands before its cells");
    buffer_add(buffer, &chunk, sizeof chunk);
    buffer_add(buffer, &slot, sizeof slot);
    add_zeros(buffer, CELLS_OFFSET - sizeof chunk - sizeof slot);
    buffer_add(buffer, merged->cells, cells_size);
    add_zeros(buffer, size - CELLS_OFFSET - cells_size);
}

static void add_contexts(struct merge *merge, struct buffer *buffer) {
    VECTOR(const struct data_module *) modules = {0};
    for (size_t i = 0; i < merge->modules.count; i++)
        vector_push(&merge->arena, &modules, merge->modules.data[i]->module);
    if (merge->contexts.count)
        merge_calls(buffer, merge->contexts.data, merge->contexts.count, modules.data,
                    modules.count);
}

static void build_result(struct merge *merge, struct buffer *buffer) {
    _Static_assert(sizeof merge->header == QUIPU_PAGE, "the header takes a page");
    buffer_add(buffer, &merge->header, sizeof merge->header);
    for (size_t i = 0; i < merge->modules.count; i++)
        add_module_chunk(buffer, merge->modules.data[i], i);
    for (size_t i = 0; i < merge->modules.count; i++)
        if (merge->modules.data[i]->cells)
            add_blocks_chunk(buffer, merge->modules.data[i], (uint32_t)i);
    add_contexts(merge, buffer);
    uint64_t size = buffer->count;
    memcpy(buffer->data + offsetof(struct quipu_file, size), &size, sizeof size);
}

/* Writes the file under another name first, so that PATH is always complete: the new file, or what
 * was there before. */
static void write_result(const struct buffer *buffer, const char *path) {
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        die("'%s' is no regular file; give the name of a data file to make", path);
    const char *name = begin_unfinished(path);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = fd >= 0 && write_whole(fd, buffer->data, buffer->count);
    int cause = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        cause = errno;
    }
    if (!end_unfinished(path, good)) {
        good = false;
        cause = errno;
    }
    if (!good)
        die("cannot write '%s': %s", path, strerror(cause));
}

/* ---- the command ---- */

static void print_help(void) {
    fputs("usage: quipu merge -o OUT DATA...\n\n"
          "Adds the counts of DATA (data files or directories of them) up into one data file.\n"
          "All runs of a program or library must be of one build.\n\noptions:\n"
          "  -o, --output=OUT  the file to make; it may be one of DATA\n",
          stdout);
}

struct merge_options {
    const char *output;
};

static const struct option_row rows[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct merge_options, output), NULL},
};

static const struct command_line command_line = {"merge", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

void merge_files(char *const *paths, size_t count, const char *output) {
    struct merge merge = {0};
    struct buffer result = {0};
    sources_read(&merge.sources, paths, count);
    sources_check(&merge.sources, true);
    add_all(&merge);
    build_result(&merge, &result);
    write_result(&result, output);
    buffer_release(&result);
    sources_release(&merge.sources);
    arena_release(&merge.arena);
}

int cmd_merge(int argc, char **argv) {
    struct merge_options options = {0};
    int first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    if (!options.output)
        die("no output was given; add -o OUT");
    if (first == argc)
        die("no data was given; name data files or directories of them");
    show_progress();
    merge_files(argv + first, (size_t)(argc - first), options.output);
    return 0;
}
