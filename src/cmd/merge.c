/* merge.c: quipu merge -o OUT DATA...: adds data files up into one.
 *
 * The cells of all processes and threads are added up by build of module, into one slot each, and
 * their calling contexts into one tree.  The binaries are needed for calling contexts alone, whose
 * addresses mean something only together with the modules' code.  The result is a data file as any
 * other, so it can be merged again; what it says of program and command is the first file's, its
 * start the earliest.
 *
 * Where it is not perfect: which process and thread made a count is lost. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"

#include "cmd/merge_contexts.h"
#include "data/datafile.h"
#include "util/buffer.h"
#include "util/diag.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A build of a module, and its sums. */
struct merged_module {
    const struct data_module *module; /* as the first file tells it */
    const char *file;                 /* that file */
    uint64_t *cells;                  /* NULL: no thread has counted in it */
    uint64_t threads;
};

struct merge {
    struct arena arena;
    VECTOR(const char *) paths;    /* of data files */
    VECTOR(const char *) contexts; /* those of them that hold calling contexts */
    VECTOR(struct merged_module) modules;
    struct quipu_file header;
};

/* ---- which files ---- */

static int compare_texts(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Adds the data files of the directory at PATH, by name. */
static void add_directory(struct merge *merge, const char *path) {
    DIR *directory = opendir(path);
    if (!directory)
        die("'%s': %s", path, strerror(errno));
    size_t first = merge->paths.count;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        const char *file = arena_print(&merge->arena, "%s/%s", path, entry->d_name);
        if (data_file_here(file))
            vector_push(&merge->arena, &merge->paths, file);
    }
    closedir(directory);
    if (merge->paths.count == first)
        die("'%s': no data file is in this directory; run an instrumented program first", path);
    qsort(merge->paths.data + first, merge->paths.count - first, sizeof *merge->paths.data,
          compare_texts);
}

static void add_path(struct merge *merge, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0)
        die("'%s': %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        add_directory(merge, path);
    else
        vector_push(&merge->arena, &merge->paths, path);
}

/* ---- sums ---- */

static bool same_build(const struct data_module *a, const struct data_module *b) {
    bool same_cells = a->cells_address == b->cells_address && a->cell_count == b->cell_count;
    if (!same_cells || a->build_id_size != b->build_id_size)
        return false;
    if (a->build_id_size)
        return memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
    return strcmp(a->path, b->path) == 0; /* no build id: the path has to do */
}

/* The sums for MODULE, which FILE holds. */
static struct merged_module *find_module(struct merge *merge, const char *file,
                                         const struct data_module *module) {
    for (size_t i = 0; i < merge->modules.count; i++) {
        struct merged_module *merged = &merge->modules.data[i];
        if (same_build(merged->module, module))
            return merged;
        if (strcmp(merged->module->path, module->path) == 0)
            die("'%s' and '%s' come from different builds of '%s'; merge the runs of one build",
                merged->file, file, module->path);
    }
    struct data_module *copy = ARENA_NEW(&merge->arena, struct data_module);
    *copy = *module;
    vector_push(&merge->arena, &merge->modules,
                ((struct merged_module){.module = copy, .file = file}));
    return &merge->modules.data[merge->modules.count - 1];
}

static void add_slot(struct merge *merge, struct merged_module *merged,
                     const struct data_slot *slot) {
    if (!merged->cells)
        merged->cells = ARENA_ARRAY(&merge->arena, uint64_t, merged->module->cell_count);
    for (uint64_t i = 0; i < merged->module->cell_count; i++)
        merged->cells[i] += __atomic_load_n(&slot->cells[i], __ATOMIC_RELAXED);
    merged->threads += slot->threads;
}

/* The header of the sum is the first file's; only its start may be earlier. */
static void add_header(struct merge *merge, const struct data_file *file) {
    struct quipu_file *header = &merge->header;
    const struct quipu_file *source = (const struct quipu_file *)(const void *)file->bytes;
    if (!header->version) {
        memcpy(header->magic, QUIPU_FILE_MAGIC, sizeof header->magic);
        header->version = QUIPU_FILE_VERSION;
        header->header_size = QUIPU_PAGE;
        header->flags = QUIPU_FILE_MERGED;
        header->start_time = file->start_time;
        memcpy(header->program, source->program, sizeof header->program);
        memcpy(header->command, source->command, sizeof header->command);
    }
    if (file->start_time < header->start_time)
        header->start_time = file->start_time;
    if (file->incomplete)
        header->flags |= QUIPU_FILE_INCOMPLETE;
}

static void add_file(struct merge *merge, const char *path) {
    struct data_file file;
    const char *cause = data_file_open(&merge->arena, path, &file);
    if (cause)
        die("'%s': %s", path, cause);
    add_header(merge, &file);
    if (file.contexts.count)
        vector_push(&merge->arena, &merge->contexts, path);
    for (size_t i = 0; i < file.modules.count; i++)
        find_module(merge, path, &file.modules.data[i]);
    for (size_t i = 0; i < file.slots.count; i++) {
        const struct data_slot *slot = &file.slots.data[i];
        add_slot(merge, find_module(merge, path, &file.modules.data[slot->module]), slot);
    }
    data_file_close(&file);
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
        vector_push(&merge->arena, &modules, merge->modules.data[i].module);
    if (merge->contexts.count)
        merge_contexts(buffer, merge->contexts.data, merge->contexts.count, modules.data,
                       modules.count);
}

static void build_result(struct merge *merge, struct buffer *buffer) {
    _Static_assert(sizeof merge->header == QUIPU_PAGE, "the header takes a page");
    buffer_add(buffer, &merge->header, sizeof merge->header);
    for (size_t i = 0; i < merge->modules.count; i++)
        add_module_chunk(buffer, &merge->modules.data[i], i);
    for (size_t i = 0; i < merge->modules.count; i++)
        if (merge->modules.data[i].cells)
            add_blocks_chunk(buffer, &merge->modules.data[i], (uint32_t)i);
    add_contexts(merge, buffer);
    uint64_t size = buffer->count;
    memcpy(buffer->data + offsetof(struct quipu_file, size), &size, sizeof size);
}

/* Writes the file under another name first: at PATH there is all of it or what was there before. */
static void write_result(struct merge *merge, const struct buffer *buffer, const char *path) {
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        die("'%s' is no regular file; give the name of a data file to make", path);
    char *temporary = arena_print(&merge->arena, "%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        die("cannot write '%s': %s", path, strerror(errno));
    mode_t mask = umask(0);
    umask(mask);
    bool good = write_whole(fd, buffer->data, buffer->count) && fchmod(fd, 0666 & ~mask) == 0;
    int cause = errno;
    if (close(fd) != 0 && good) {
        good = false;
        cause = errno;
    }
    if (good && rename(temporary, path) != 0) {
        good = false;
        cause = errno;
    }
    if (!good) {
        unlink(temporary);
        die("cannot write '%s': %s", path, strerror(cause));
    }
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

int cmd_merge(int argc, char **argv) {
    struct merge_options options = {0};
    int first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    if (!options.output)
        die("no output was given; add -o OUT");
    if (first == argc)
        die("no data was given; name data files or directories of them");
    struct merge merge = {0};
    struct buffer result = {0};
    for (int i = first; i < argc; i++)
        add_path(&merge, argv[i]);
    for (size_t i = 0; i < merge.paths.count; i++)
        add_file(&merge, merge.paths.data[i]);
    build_result(&merge, &result);
    write_result(&merge, &result, options.output);
    buffer_release(&result);
    arena_release(&merge.arena);
    return 0;
}
