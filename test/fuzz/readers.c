/* readers.c: fuzzes the readers of data files, notes and binaries.
 *
 *     readers BINARY DIRECTORY SEEDS [FIRST]
 *
 * From an instrumented BINARY it makes a data file, then for each seed a damaged copy of one of
 * them in DIRECTORY and reads it in a child process: opens it, counts, disassembles, adds up lines
 * and calls.
 * A child must end with status 0 (it was good all the same) or 1 (an error was told).  A signal, a
 * sanitizer's report or ten seconds without an end are a failure: the seed is named and its files
 * are kept.  The same seed always makes the same damage.
 *
 * Data files are damaged at the starts of their pages mostly; binaries in their notes, headers,
 * symbols and debug information. */
#include "format/calls.h"
#include "format/data_file.h"
#include "format/notes.h"
#include "random.h"
#include "symbols/binary.h"
#include "data/calls.h"
#include "data/datafile.h"
#include "data/profile.h"
#include "report/line_counts.h"
#include "util/buffer.h"
#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SECONDS_MAX = 10, /* for one child */
    SLOTS = 3,
    CONTEXTS = 12,
};

/* ---- what is damaged ---- */

enum {
    REGIONS_MAX = 16
};

struct region {
    size_t offset, size;
};

struct file {
    struct buffer bytes;
    struct region regions[REGIONS_MAX]; /* most damage is done in the first one, or in another */
    size_t region_count;                /* 0: a data file, damaged at the starts of pages */
};

static void write_file(const char *path, const struct buffer *bytes) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    if (fd < 0 || !write_whole(fd, bytes->data, bytes->count) || close(fd) != 0)
        die("'%s': %s", path, strerror(errno));
}

/* A tree of calling contexts in code of BINARY, one chunk. */
static void add_contexts(struct buffer *out, const struct binary *binary) {
    uint8_t bytes[QUIPU_PAGE] = {0};
    struct quipu_call_tree tree = {.chunk = {QUIPU_CALL_TREE, 0, sizeof bytes},
                                  .owner = 4711,
                                  .count = CONTEXTS,
                                  .capacity = CONTEXTS,
                                  .thread = 1,
                                  .events_base = 1000,
                                  .events_cell = 64};
    _Static_assert(sizeof tree + CONTEXTS * sizeof *tree.nodes <= QUIPU_PAGE, "it has one page");
    uint64_t code = 0;
    for (size_t i = 0; i < binary->segments.count; i++)
        code = binary->segments.data[i].executable ? binary->segments.data[i].address : code;
    memcpy(bytes, &tree, sizeof tree);
    for (uint32_t i = 1; i < CONTEXTS; i++) {
        struct quipu_context node = {.parent = (i + 1) / 2,
                                     .site = code + 8 * i,
                                     .callee = code + 16 * i,
                                     .calls = i,
                                     .inclusive = 1000 / i - (i % 3 ? 0 : 1000)};
        memcpy(bytes + sizeof tree + i * sizeof node, &node, sizeof node);
    }
    buffer_add(out, bytes, sizeof bytes);
}

/* A data file of SLOTS threads, each cell a small number. */
static void make_data(struct buffer *out, const struct binary *binary, const char *path) {
    struct quipu_file header = {
        .version = QUIPU_FILE_VERSION, .header_size = QUIPU_PAGE, .pid = 4711, .start_time = 1};
    size_t stride = (binary->cells_size + 63) / 64 * 64, offset = 128;
    size_t blocks_size = (offset + SLOTS * stride + QUIPU_PAGE - 1) / QUIPU_PAGE * QUIPU_PAGE;
    header.size = 3 * QUIPU_PAGE + blocks_size;
    memcpy(header.magic, QUIPU_FILE_MAGIC, sizeof header.magic);
    snprintf(header.program, sizeof header.program, "%s", path);
    snprintf(header.command, sizeof header.command, "%s", path);
    struct quipu_module module = {.chunk = {QUIPU_MODULE, 0, QUIPU_PAGE},
                                  .cells_address = binary->cells_address,
                                  .cells_size = binary->cells_size,
                                  .build_id_size = binary->build_id_size};
    if (binary->build_id_size)
        memcpy(module.build_id, binary->build_id, binary->build_id_size);
    snprintf(module.path, sizeof module.path, "%s", path);
    struct quipu_blocks blocks = {.chunk = {QUIPU_BLOCKS, 0, blocks_size},
                                  .slot_count = SLOTS,
                                  .slot_size = stride,
                                  .cells_offset = offset};
    uint8_t *bytes = calloc(1, blocks_size);
    CHECK(bytes && stride);
    memcpy(bytes, &blocks, sizeof blocks);
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct quipu_slot slot = {.owner = 4711 + i, .threads = 1};
        memcpy(bytes + sizeof blocks + i * sizeof slot, &slot, sizeof slot);
        for (size_t j = 0; j < binary->cells_size / 8; j++)
            bytes[offset + i * stride + 8 * j] = (uint8_t)(i + j);
    }
    buffer_add(out, &header, sizeof header);
    buffer_add(out, &module, sizeof module);
    buffer_add(out, bytes, blocks_size);
    free(bytes);
    add_contexts(out, binary);
}

static struct region random_region(const struct file *file) {
    struct region all = {0, file->bytes.count};
    if (random_below(8) == 0)
        return all;
    if (file->region_count)
        return file->regions[random_below(2) ? 0 : random_below(file->region_count)];
    size_t page = random_below(all.size / QUIPU_PAGE);
    bool contexts = page == all.size / QUIPU_PAGE - 1;
    return (struct region){page * QUIPU_PAGE, contexts ? 64 * (CONTEXTS + 1) : 128};
}

/* A place to damage: where SIZE bytes lie. */
static uint8_t *random_place(struct file *file, size_t size) {
    struct region region = random_region(file);
    if (region.offset > file->bytes.count)
        return NULL;
    if (region.size > file->bytes.count - region.offset)
        region.size = file->bytes.count - region.offset;
    if (region.size < size)
        return NULL;
    return (uint8_t *)file->bytes.data + region.offset + random_below(region.size - size + 1);
}

static void set_number(struct file *file) {
    static const uint64_t numbers[] = {
        0,          1,
        2,          7,
        8,          63,
        64,         127,
        128,        255,
        256,        4095,
        4096,       8192,
        INT32_MAX,  UINT32_MAX,
        INT64_MAX,  UINT64_MAX,
        1ull << 31, 1ull << 32,
        1ull << 63, UINT64_MAX - 4095,
    };
    static const size_t sizes[] = {1, 2, 4, 8};
    size_t size = sizes[random_below(4)];
    uint8_t *place = random_place(file, size);
    uint64_t number = numbers[random_below(sizeof numbers / sizeof *numbers)];
    if (place)
        memcpy(place, &number, size);
}

static void flip_bit(struct file *file) {
    uint8_t *place = random_place(file, 1);
    if (place)
        *place ^= (uint8_t)(1u << random_below(8));
}

static void set_byte(struct file *file) {
    uint8_t *place = random_place(file, 1);
    if (place)
        *place = (uint8_t)random_number();
}

static void copy_bytes(struct file *file) {
    size_t size = 1 + random_below(40);
    const uint8_t *from = random_place(file, size);
    uint8_t *to = random_place(file, size);
    if (from && to)
        memmove(to, from, size);
}

static void cut(struct file *file) {
    if (random_below(4) == 0)
        file->bytes.count = random_below(file->bytes.count + 1);
}

static void damage(struct file *file) {
    static void (*const ways[])(struct file * file) = {set_number, set_number, flip_bit,
                                                       set_byte,   copy_bytes, cut};
    size_t times = 1 + random_below(4);
    for (size_t i = 0; i < times && file->bytes.count; i++)
        ways[random_below(sizeof ways / sizeof *ways)](file);
}

/* ---- reading it ---- */

static void read_calls(struct profile *profile) {
    struct contexts contexts;
    struct arena arena = {0};
    contexts_read(profile, (struct selection){0}, false, &contexts);
    call_vector calls = contexts_calls(&arena, &contexts, CALLER_OF_SITE);
    uint64_t sum = 0;
    for (size_t i = 0; i < calls.count; i++)
        sum += calls.data[i].calls;
    fprintf(stderr, "%" PRIu64 "\n", sum);
    arena_release(&arena);
    contexts_release(&contexts);
}

static void read_all(struct profile *profile) {
    struct arena arena = {0};
    char text[256];
    uint64_t sum = 0;
    for (size_t i = 0; i < profile->modules.count; i++) {
        const struct module *module = profile->modules.data[i];
        for (size_t j = 0; j < module->functions.count; j++) {
            const struct function *function = &module->functions.data[j];
            for (size_t k = 0; k < function->instruction_count; k++) {
                instruction_text(function, &function->instructions[k], text, sizeof text);
                sum += strlen(text);
                instruction_place(function, &function->instructions[k], text, sizeof text);
                sum += strlen(text);
            }
        }
    }
    const struct line_counts *lines = count_lines(&arena, profile);
    for (size_t i = 0; i < lines->file_count; i++)
        sum += lines->files[i].line_count + strlen(profile->files.data[lines->files[i].file]);
    fprintf(stderr, "%" PRIu64 "\n", sum);
    arena_release(&arena);
}

static _Noreturn void read_in_child(char *path, bool is_data, const char *log) {
    if (!freopen(log, "w", stderr))
        _exit(98);
    alarm(SECONDS_MAX);
    if (is_data) {
        struct profile *profile = profile_open(&path, 1);
        profile_count(profile, (struct selection){0});
        for (size_t i = 0; i < profile->processes.count; i++)
            profile_count(profile, (struct selection){.process = &profile->processes.data[i]});
        read_all(profile);
        read_calls(profile);
        profile_close(profile);
    } else {
        struct profile *profile = profile_open_binary(path);
        read_all(profile);
        profile_close(profile);
    }
    exit(0);
}

struct tally {
    unsigned reads, refused;
};

/* Returns whether the child ended as it must. */
static bool read_damaged(char *path, bool is_data, const char *log, uint64_t seed,
                         struct tally *tally) {
    tally->reads++;
    pid_t child = fork();
    if (child == 0)
        read_in_child(path, is_data, log);
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("cannot run a child: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1) {
        tally->refused += WEXITSTATUS(status) == 1;
        return true;
    }
    if (WIFSIGNALED(status))
        printf("seed %" PRIu64 ": reading '%s' ended by signal %d; see '%s'\n", seed, path,
               WTERMSIG(status), log);
    else
        printf("seed %" PRIu64 ": reading '%s' ended with status %d; see '%s'\n", seed, path,
               WEXITSTATUS(status), log);
    return false;
}

/* ---- the run ---- */

/* The notes first, then whatever else readers look at. */
static void find_regions(const struct binary *binary, struct file *file) {
    static const char *const names[] = {
        QUIPU_FUNCTIONS_SECTION, QUIPU_UNITS_SECTION, ".debug_info", ".debug_abbrev", ".debug_line",
        ".debug_rnglists",       ".symtab",           ".rela.plt",   ".rela.dyn",     ".strtab",
    };
    GElf_Ehdr header;
    CHECK(gelf_getehdr(binary->elf, &header));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size;
        const uint8_t *bytes = binary_section(binary, names[i], &size);
        if (bytes)
            file->regions[file->region_count++] =
                (struct region){(size_t)(bytes - binary->bytes), size};
        else if (i == 0)
            die("'%s': it has no notes; give an instrumented binary", binary->path);
    }
    file->regions[file->region_count++] = (struct region){0, header.e_phoff + 0x200};
    file->regions[file->region_count++] =
        (struct region){header.e_shoff, (size_t)header.e_shnum * header.e_shentsize};
}

static struct file copy_file(const struct file *file) {
    struct file copy = *file;
    copy.bytes = (struct buffer){0};
    buffer_add(&copy.bytes, file->bytes.data, file->bytes.count);
    return copy;
}

/* The good files, and where the damaged ones go. */
struct trial {
    struct file program, data;
    char *program_path, *data_path, *log;
    struct tally tally;
};

static void start_trial(struct arena *arena, struct trial *trial, const char *path,
                        const char *directory) {
    struct binary *binary;
    const char *cause = binary_open(arena, path, &binary);
    if (cause)
        die("'%s': %s", path, cause);
    trial->data_path = arena_print(arena, "%s/damaged.quipu", directory);
    trial->program_path = arena_print(arena, "%s/damaged", directory);
    trial->log = arena_print(arena, "%s/log", directory);
    if (!buffer_read_file(&trial->program.bytes, path))
        die("'%s': %s", path, strerror(errno));
    find_regions(binary, &trial->program);
    make_data(&trial->data.bytes, binary, trial->program_path);
    binary_close(binary);
}

/* Reads the good files, or with DAMAGES one of them damaged.  Returns whether all went well. */
static bool run_seed(struct trial *trial, uint64_t seed, bool damages) {
    state = (seed + 1) * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 8; i++)
        random_number();
    bool damages_data = random_below(2);
    struct file data = copy_file(&trial->data), program = copy_file(&trial->program);
    if (damages)
        damage(damages_data ? &data : &program);
    write_file(trial->data_path, &data.bytes);
    write_file(trial->program_path, &program.bytes);
    buffer_release(&data.bytes);
    buffer_release(&program.bytes);
    if (!read_damaged(trial->data_path, true, trial->log, seed, &trial->tally))
        return false;
    return damages_data ||
           read_damaged(trial->program_path, false, trial->log, seed, &trial->tally);
}

/* Damage that is always refused, or never, tries nothing. */
static bool check_tally(const struct tally *tally) {
    printf("%u damaged files read, %u refused\n", tally->reads, tally->refused);
    if (tally->reads <= 200 ||
        (tally->refused > tally->reads / 10 && tally->refused < tally->reads - tally->reads / 10))
        return true;
    puts("the damage is too little or too much to try the readers");
    return false;
}

int main(int argc, char **argv) {
    if (argc < 4)
        die("usage: readers BINARY DIRECTORY SEEDS [FIRST]");
    struct arena arena = {0};
    struct trial trial = {0};
    uint64_t seeds = strtoull(argv[3], NULL, 10);
    uint64_t first = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    start_trial(&arena, &trial, argv[1], argv[2]);
    if (!run_seed(&trial, 0, false))
        return 1;
    if (trial.tally.refused) {
        printf("the undamaged files were refused; see '%s'\n", trial.log);
        return 1;
    }
    for (uint64_t seed = first; seed < first + seeds; seed++)
        if (!run_seed(&trial, seed, true))
            return 1;
    bool good = check_tally(&trial.tally);
    buffer_release(&trial.data.bytes);
    buffer_release(&trial.program.bytes);
    arena_release(&arena);
    return !good;
}
