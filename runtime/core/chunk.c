/* chunk.c: the chunks of the data file: this module, and cells for its threads.
 *
 * A chunk of cells in the file and in memory:
 *
 *     struct quipu_blocks with its slots | struct quipu_place | cells of slot 0 | slot 1 | ...
 *                                                             ^ cells_offset
 *
 * In executables the first chunk is mapped over the static cells, so the first thread's bias is 0.
 * Measurements: while the base of %gs is 0, its counters cost a third to a half less. The chunk's
 * table is in the page that begin.S reserves before the cells.
 *
 * The functions that change chunks need the file's lock. */
#include "format/data_file.h"
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

enum {
    FIRST_BYTES = 64 * 1024, /* cells of the first chunk */
    FIRST_SLOTS_MAX = 64,
    CACHE_LINE = 64,
    WRITTEN_MAX = 128 * 1024, /* bytes that are written; more is only reserved */
    PLENTY_SHIFT = 32,        /* a disk with this power of two of bytes free counts as never full */
    ZERO_PAGES = 16,          /* written by one call */
};

uint64_t quipu_slot_size(void) {
    return round_up(quipu_state.module.cells_size, CACHE_LINE);
}

uint32_t quipu_first_count(void) {
    uint64_t count = FIRST_BYTES / quipu_slot_size();
    if (count < 1)
        return 1;
    return count < FIRST_SLOTS_MAX ? (uint32_t)count : FIRST_SLOTS_MAX;
}

/* Writes zeros from OFFSET to END. */
static long write_zeros(int fd, uint64_t offset, uint64_t end) {
    static char zeros[QUIPU_PAGE];
    struct iovec pieces[ZERO_PAGES];
    for (size_t i = 0; i < ZERO_PAGES; i++)
        pieces[i] = (struct iovec){zeros, sizeof zeros};
    while (offset < end) {
        uint64_t pages = (end - offset + QUIPU_PAGE - 1) / QUIPU_PAGE;
        /* The second half of the offset is for other machines. */
        long written =
            SYSTEM_CALL(pwritev, fd, pieces, pages < ZERO_PAGES ? pages : ZERO_PAGES, offset, 0, 0);
        if (written <= 0)
            return written < 0 ? written : -EIO;
        offset += (uint64_t)written;
    }
    return 0;
}

/* Fails if the file must not be as long as END: the kernel would then raise SIGXFSZ. */
static long check_limit(uint64_t end) {
    struct rlimit limit = {0};
    long error = SYSTEM_CALL(prlimit64, 0, RLIMIT_FSIZE, 0, &limit, 0, 0);
    return error == 0 && end > limit.rlim_cur ? -EFBIG : error;
}

/* Whether the disk has so much room that the file may have holes. Most code of a large program
 * never runs, and its cells then need no space. */
static bool has_plenty(int fd) {
    struct statfs disk = {0};
    if (quipu_state.reserves || SYSTEM_CALL(fstatfs, fd, &disk, 0, 0, 0, 0) != 0 ||
        disk.f_bsize <= 0)
        return false;
    return disk.f_bavail > (1ul << PLENTY_SHIFT) / (uint64_t)disk.f_bsize;
}

/* Makes the file at least as long as END. */
static long lengthen(int fd, uint64_t end) {
    struct stat status = {0};
    long error = SYSTEM_CALL(fstat, fd, &status, 0, 0, 0, 0);
    if (error == 0 && (uint64_t)status.st_size < end)
        error = SYSTEM_CALL(ftruncate, fd, end, 0, 0, 0, 0);
    return error;
}

long quipu_reserve(int fd, uint64_t offset, uint64_t length) {
    long error = check_limit(offset + length);
    if (error < 0)
        return error;
    if (length > WRITTEN_MAX && has_plenty(fd) && lengthen(fd, offset + length) == 0)
        return 0;
    /* A small space costs less if it is written: the disk allocates its blocks later and all at
     * once. */
    if (length > WRITTEN_MAX)
        error = SYSTEM_CALL(fallocate, fd, 0, offset, length, 0, 0);
    if (length <= WRITTEN_MAX || error == -EOPNOTSUPP || error == -ENOSYS)
        error = write_zeros(fd, offset, offset + length);
    return error;
}

/* Whether MODULE is this one, when it was loaded before. */
static bool is_this_module(const struct quipu_module *module) {
    const struct quipu_module *own = &quipu_state.module;
    return module->cells_size == own->cells_size && module->cells_address == own->cells_address &&
           module->build_id_size == own->build_id_size &&
           bytes_equal(module->build_id, own->build_id, sizeof own->build_id) &&
           text_equal(module->path, own->path);
}

/* Takes over slots that the module had before it was closed. The old mappings still exist. */
static void take_over(struct quipu_blocks *blocks) {
    const struct quipu_place *place = quipu_place_of(blocks);
    struct quipu_file *file = (void *)place->file;
    if (quipu_state.block_count == BLOCKS_MAX)
        return;
    if (quipu_state.file != file) {
        /* Both are mappings of the same page of the file, so the lock stays held. */
        SYSTEM_CALL(munmap, quipu_state.file, QUIPU_PAGE, 0, 0, 0, 0);
        quipu_state.file = file;
    }
    quipu_state.blocks[quipu_state.block_count++] = (void *)place->blocks;
}

/* Returns the chunk at OFFSET of VIEW, a mapping of SIZE bytes of the file. NULL: there is none, or
 * the program has overwritten it. */
static const struct quipu_chunk *chunk_at(const char *view, uint64_t size, uint64_t offset) {
    const struct quipu_chunk *chunk = (const void *)(view + offset);
    bool is_there = offset < size && chunk->size >= QUIPU_PAGE && offset + chunk->size <= size;
    return is_there ? chunk : NULL;
}

/* Reads the chunks in VIEW, a mapping of the file. Sets state.module_number to this module's
 * number, or to that of the next module to be added. Returns the module's offset in the file, or 0
 * if it is new. */
static uint64_t find_module(const char *view, uint64_t size) {
    uint32_t count = 0;
    uint64_t found = 0, offset = QUIPU_PAGE;
    for (const struct quipu_chunk *chunk; (chunk = chunk_at(view, size, offset));
         offset += chunk->size) {
        if (chunk->kind == QUIPU_MODULE && !found && is_this_module((const void *)chunk)) {
            found = offset;
            quipu_state.module_number = count;
        }
        struct quipu_blocks *blocks = (void *)(view + offset);
        if (chunk->kind == QUIPU_BLOCKS && found && blocks->module == quipu_state.module_number)
            take_over(blocks);
        count += chunk->kind == QUIPU_MODULE;
    }
    if (!found)
        quipu_state.module_number = count;
    return found;
}

/* Writes SIZE bytes of a chunk at OFFSET. */
static long write_chunk(uint64_t offset, const void *chunk, uint64_t size) {
    const char *bytes = chunk;
    while (size > 0) {
        long written = SYSTEM_CALL(pwrite64, quipu_state.fd, bytes, size, offset, 0, 0);
        if (written <= 0)
            return written < 0 ? written : -EIO;
        bytes += written;
        offset += (uint64_t)written;
        size -= (uint64_t)written;
    }
    return 0;
}

/* Writes a chunk of SIZE bytes behind the last one. */
static long append_chunk(const void *chunk, uint64_t size) {
    uint64_t offset = quipu_state.file->size;
    long error = check_limit(offset + size);
    if (error == 0)
        error = write_chunk(offset, chunk, size);
    if (error == 0)
        set_file_size(offset + size);
    return error;
}

static long append_load(uint64_t load_bias) {
    static struct quipu_load load;
    load = (struct quipu_load){.chunk = {.kind = QUIPU_LOAD, .size = sizeof load},
                               .module = quipu_state.module_number,
                               .load_bias = load_bias};
    return append_chunk(&load, sizeof load);
}

/* The loads of this module that are in the file. */
struct loads {
    uint64_t last_bias; /* the module's load bias */
    uint32_t count;
    uint32_t same; /* number of the one at the present load bias; not below count: none */
};

/* Reads the loads in VIEW, a mapping of the file, of this module, which is at OFFSET. */
static struct loads find_loads(const char *view, uint64_t size, uint64_t offset) {
    struct loads loads = {.same = QUIPU_LOADS_MAX};
    loads.last_bias = ((const struct quipu_module *)(const void *)(view + offset))->load_bias;
    for (const struct quipu_chunk *chunk; (chunk = chunk_at(view, size, offset));
         offset += chunk->size) {
        const struct quipu_load *load = (const void *)chunk;
        if (chunk->kind != QUIPU_LOAD || load->module != quipu_state.module_number)
            continue;
        if (load->load_bias == quipu_state.module.load_bias)
            loads.same = loads.count;
        loads.count++;
    }
    return loads;
}

/* Sets state.load_number. Only a module that comes to another address has loads in the file. */
static long enter_load(const struct loads *loads) {
    uint64_t bias = quipu_state.module.load_bias;
    uint32_t count = loads->count;
    long error = 0;
    quipu_state.load_number = loads->same < count ? loads->same : 0;
    if (loads->same < count || (count == 0 && loads->last_bias == bias))
        return 0;
    if (count == 0) {
        error = append_load(loads->last_bias);
        count++;
    }
    if (error == 0 && count < QUIPU_LOADS_MAX)
        error = append_load(bias);
    quipu_state.load_number = count < QUIPU_LOADS_MAX ? count : QUIPU_LOADS_MAX - 1;
    return error;
}

long quipu_enter_module(void) {
    uint64_t size = quipu_state.file->size;
    struct loads loads = {0};
    char *view = map_memory(NULL, size, PROT_READ, MAP_SHARED, quipu_state.fd, 0);
    if (is_error(view))
        return (long)view;
    uint64_t offset = find_module(view, size);
    if (offset)
        loads = find_loads(view, size, offset);
    SYSTEM_CALL(munmap, view, size, 0, 0, 0, 0);
    quipu_state.opening = ++quipu_state.file->openings;
    if (!offset)
        return append_chunk(&quipu_state.module, sizeof quipu_state.module);
    long error = enter_load(&loads);
    return error ? error : write_chunk(offset, &quipu_state.module, sizeof quipu_state.module);
}

/* A chunk of SIZE bytes at START replaces a part of the chunk at OLD. Unmaps the rest of that. If
 * the kernel cannot split a mapping, the rest stays mapped and unused. */
static void unmap_rest(const struct quipu_blocks *old, uint64_t old_size, char *start,
                       uint64_t size) {
    char *old_start = (char *)(uintptr_t)old;
    char *end = start + size;
    uint64_t before = (uint64_t)(start - old_start);
    uint64_t behind = (uint64_t)(old_start + old_size - end);
    if (before)
        SYSTEM_CALL(munmap, old_start, before, 0, 0, 0, 0);
    if (behind)
        SYSTEM_CALL(munmap, end, behind, 0, 0, 0, 0);
}

/* The base of %gs cannot be negative, so cells must be above the static ones. If necessary they are
 * far above, so that they do not limit the heap. For programs that are at high addresses themselves
 * they are in the gap below the stack. */
void *quipu_map_cells(uint64_t size, int flags, int fd, uint64_t offset) {
    static const uint8_t distances[] = {44, 36, 30, 26, 22}; /* powers of two */
    const char *least = IS_LINKED(quipu_set_segment) ? quipu_cells_end : NULL;
    char *cells = map_memory(NULL, size, PROT_READ | PROT_WRITE, flags, fd, offset);
    for (size_t i = 0; i < sizeof distances && !is_error(cells) && cells < least; i++) {
        char *above = (char *)round_up((uint64_t)least + (1ul << distances[i]), QUIPU_PAGE);
        char *again = map_memory(above, size, PROT_READ | PROT_WRITE, flags, fd, offset);
        if (is_error(again))
            break;
        SYSTEM_CALL(munmap, cells, size, 0, 0, 0, 0);
        cells = again;
    }
    return cells;
}

long quipu_add_blocks(int fd, uint32_t count, char *cells, const struct quipu_blocks *old) {
    struct quipu_state *state = &quipu_state;
    if (state->block_count == BLOCKS_MAX)
        return -ENOMEM;
    uint64_t offset = state->file->size;
    uint64_t cells_offset =
        round_up(sizeof(struct quipu_blocks) + count * sizeof(struct quipu_slot) +
                     sizeof(struct quipu_place),
                 CACHE_LINE);
    /* Cells keep their offset in the page. A chunk has at most as many slots as the old one has
     * from CELLS on, so it ends at or before the old one's end. Its table is not longer, so it
     * begins at or behind the old one's begin. */
    if (cells)
        cells_offset += ((uint64_t)cells - cells_offset) % QUIPU_PAGE;
    uint64_t size = round_up(cells_offset + count * quipu_slot_size(), QUIPU_PAGE);
    uint64_t old_size = old ? old->chunk.size : 0;
    long error = quipu_reserve(fd, offset, size);
    if (error < 0)
        return error;
    struct quipu_blocks *blocks =
        cells ? map_memory(cells - cells_offset, size, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, fd, offset)
              : quipu_map_cells(size, MAP_SHARED, fd, offset);
    if (is_error(blocks))
        return (long)blocks;
    if (old)
        unmap_rest(old, old_size, (char *)blocks, size);
    blocks->chunk = (struct quipu_chunk){.kind = QUIPU_BLOCKS, .size = size};
    blocks->module = state->module_number;
    blocks->slot_count = count;
    blocks->slot_size = quipu_slot_size();
    blocks->cells_offset = cells_offset;
    quipu_place_of(blocks)->file = (uint64_t)state->file;
    quipu_place_of(blocks)->blocks = (uint64_t)blocks;
    quipu_place_of(blocks)->offset = offset;
    state->blocks[state->block_count++] = blocks;
    set_file_size(offset + size);
    return 0;
}

bool quipu_has_static_cells(const struct quipu_blocks *blocks) {
    return (uint64_t)quipu_cells_begin - (uint64_t)blocks < blocks->chunk.size;
}

/* Reads the static cells. This costs a page fault for each page, but no memory. */
static bool has_counted(void) {
    const uint64_t *cells = (const void *)quipu_cells_begin;
    uint64_t any = 0;
    for (uint64_t i = 0; i < quipu_state.module.cells_size / sizeof *cells; i++)
        any |= cells[i];
    return any != 0;
}

void quipu_add_static_cells(void) {
    uint64_t room = round_up(quipu_state.module.cells_size, QUIPU_PAGE);
    uint64_t count = room / quipu_slot_size();
    bool fits = IS_LINKED(quipu_set_segment) && (uint64_t)quipu_cells_begin % QUIPU_PAGE == 0;
    if (fits && quipu_state.block_count == 0 && !has_counted())
        quipu_add_blocks(quipu_state.fd,
                         count < FIRST_SLOTS_MAX ? (uint32_t)count : FIRST_SLOTS_MAX,
                         quipu_cells_begin, NULL);
}
