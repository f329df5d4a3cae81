/* datafile.c: one data file as it was mapped; see datafile.h and format.h.
 *
 * No number of the file is trusted: each is read once, then compared with what it must fit into.
 * A running program only lets the file grow, and raises `size` after the chunk below it is
 * complete, so what was checked stays right.
 *
 * Where it is not perfect: a file that somebody truncates while it is read ends the tool by SIGBUS.
 */
#include "data/datafile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ(bytes, type, field)                                                                   \
    read_field((bytes) + offsetof(type, field), sizeof((type){0}.field))

/* The unsigned number of SIZE bytes at BYTES, read once, whatever writes there. */
static uint64_t read_field(const uint8_t *bytes, size_t size) {
    if (size == 8)
        return __atomic_load_n((const uint64_t *)(const void *)bytes, __ATOMIC_ACQUIRE);
    return __atomic_load_n((const uint32_t *)(const void *)bytes, __ATOMIC_ACQUIRE);
}

/* ---- header ---- */

static const char *check_magic(const uint8_t *bytes, size_t size) {
    static const char magic[] = QUIPU_FILE_MAGIC;
    size_t length = sizeof magic - 1, text = length - 2;
    if (size < length || memcmp(bytes, magic, length) != 0)
        return size >= text && memcmp(bytes, magic, text) == 0
                   ? "it was changed by a copy as text; copy it as binary"
                   : "it is no quipu data file";
    return NULL;
}

static const char *check_header(struct arena *arena, const struct data_file *file, uint64_t *used) {
    const uint8_t *bytes = file->bytes;
    const char *cause = check_magic(bytes, file->size);
    if (cause)
        return cause;
    if (file->size < QUIPU_PAGE)
        return arena_print(arena, "it is truncated: %zu bytes are there, its header has %d",
                           file->size, QUIPU_PAGE);
    uint64_t version = READ(bytes, struct quipu_file, version);
    if (version != QUIPU_FILE_VERSION)
        return arena_print(
            arena,
            "it is of format version %llu, this quipu reads version %d; use the quipu that built the program",
            (unsigned long long)version, QUIPU_FILE_VERSION);
    *used = READ(bytes, struct quipu_file, size);
    if (READ(bytes, struct quipu_file, header_size) != QUIPU_PAGE || *used < QUIPU_PAGE ||
        *used % QUIPU_PAGE != 0)
        return "it is corrupt: its header does not hold together";
    if (*used > file->size)
        return arena_print(arena, "it is truncated: %zu bytes are there, %llu are in use",
                           file->size, (unsigned long long)*used);
    return NULL;
}

/* Copies SIZE bytes of text; NULL where they hold no NUL. */
static const char *copy_text(struct arena *arena, const uint8_t *bytes, size_t size) {
    size_t length = strnlen((const char *)bytes, size);
    return length < size ? arena_copy(arena, (const char *)bytes, length) : NULL;
}

/* The arguments, joined by blanks; NULL where they do not end in two NULs.  Any may be empty, so
 * they end where nothing but NULs follows. */
static const char *copy_command(struct arena *arena, const uint8_t *bytes, size_t size) {
    size_t end = size;
    while (end && !bytes[end - 1])
        end--;
    if (size - end < 2)
        return NULL;
    char *text = arena_copy(arena, (const char *)bytes, end);
    for (size_t i = 0; i < end; i++)
        if (!text[i])
            text[i] = ' ';
    return text;
}

static const char *read_header(struct arena *arena, struct data_file *file, uint64_t *used) {
    const uint8_t *bytes = file->bytes;
    const char *cause = check_header(arena, file, used);
    if (cause)
        return cause;
    const struct quipu_file *layout = NULL;
    file->program =
        copy_text(arena, bytes + offsetof(struct quipu_file, program), sizeof layout->program);
    file->command =
        copy_command(arena, bytes + offsetof(struct quipu_file, command), sizeof layout->command);
    if (!file->program || !file->command)
        return "it is corrupt: a text in its header has no end";
    file->pid = (uint32_t)READ(bytes, struct quipu_file, pid);
    file->parent_pid = (uint32_t)READ(bytes, struct quipu_file, parent_pid);
    file->start_time = READ(bytes, struct quipu_file, start_time);
    file->merged = READ(bytes, struct quipu_file, flags) & QUIPU_FILE_MERGED;
    file->incomplete = READ(bytes, struct quipu_file, flags) & QUIPU_FILE_INCOMPLETE;
    return NULL;
}

/* ---- chunks ---- */

static const char *corrupt_chunk(struct arena *arena, uint64_t offset, const char *what) {
    return arena_print(arena, "it is corrupt: the chunk at byte %llu %s",
                       (unsigned long long)offset, what);
}

static const char *read_module(struct arena *arena, struct data_file *file, uint64_t offset) {
    const uint8_t *bytes = file->bytes + offset;
    struct data_module module;
    memset(&module, 0, sizeof module);
    module.cells_address = READ(bytes, struct quipu_module, cells_address);
    module.load_bias = READ(bytes, struct quipu_module, load_bias);
    module.build_id_size = (uint32_t)READ(bytes, struct quipu_module, build_id_size);
    uint64_t cells_size = READ(bytes, struct quipu_module, cells_size);
    module.cell_count = cells_size / sizeof(uint64_t);
    if (cells_size % sizeof(uint64_t) != 0 || module.build_id_size > QUIPU_BUILD_ID_MAX)
        return corrupt_chunk(arena, offset, "tells impossible sizes");
    memcpy(module.build_id, bytes + offsetof(struct quipu_module, build_id), module.build_id_size);
    module.path = copy_text(arena, bytes + offsetof(struct quipu_module, path),
                            sizeof(((struct quipu_module *)NULL)->path));
    if (!module.path)
        return corrupt_chunk(arena, offset, "holds a path with no end");
    if (!*module.path)
        return corrupt_chunk(arena, offset, "holds no path of its module");
    vector_push(arena, &file->modules, module);
    return NULL;
}

static const char *read_blocks(struct arena *arena, struct data_file *file, uint64_t offset,
                               uint64_t size) {
    const uint8_t *bytes = file->bytes + offset;
    uint32_t module = (uint32_t)READ(bytes, struct quipu_blocks, module);
    uint64_t count = READ(bytes, struct quipu_blocks, slot_count);
    uint64_t stride = READ(bytes, struct quipu_blocks, slot_size);
    uint64_t cells = READ(bytes, struct quipu_blocks, cells_offset);
    if (module >= file->modules.count)
        return corrupt_chunk(arena, offset, "belongs to a module that is not in the file");
    uint64_t cells_size = file->modules.data[module].cell_count * sizeof(uint64_t);
    uint64_t slots_end = offsetof(struct quipu_blocks, slots) + count * sizeof(struct quipu_slot);
    if (cells % 64 != 0 || cells < slots_end || cells > size || stride % sizeof(uint64_t) != 0 ||
        stride < cells_size || (stride && count > (size - cells) / stride))
        return corrupt_chunk(arena, offset, "tells impossible sizes of slots");
    if (!stride)
        return NULL;
    uint32_t first = file->modules.data[module].slot_count;
    file->modules.data[module].slot_count += (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *slot =
            bytes + offsetof(struct quipu_blocks, slots) + i * sizeof(struct quipu_slot);
        uint32_t owner = (uint32_t)READ(slot, struct quipu_slot, owner);
        if (!owner && !file->merged)
            continue; /* never owned: all zero */
        vector_push(
            arena, &file->slots,
            ((struct data_slot){
                .module = module,
                .owner = owner,
                .threads = (uint32_t)READ(slot, struct quipu_slot, threads),
                .slot = first + i,
                .cells = (const volatile uint64_t *)(const void *)(bytes + cells + i * stride),
            }));
    }
    return NULL;
}

static const char *read_contexts(struct arena *arena, struct data_file *file, uint64_t offset,
                                 uint64_t size) {
    const uint8_t *bytes = file->bytes + offset;
    struct data_contexts part;
    memset(&part, 0, sizeof part);
    part.thread = READ(bytes, struct quipu_contexts, thread);
    part.owner = (uint32_t)READ(bytes, struct quipu_contexts, owner);
    part.flags = (uint32_t)READ(bytes, struct quipu_contexts, flags);
    part.first_index = READ(bytes, struct quipu_contexts, first_index);
    part.count = (uint32_t)READ(bytes, struct quipu_contexts, count);
    part.capacity = (uint32_t)READ(bytes, struct quipu_contexts, capacity);
    part.events_base = READ(bytes, struct quipu_contexts, events_base);
    uint64_t events = READ(bytes, struct quipu_contexts, events_cell);
    uint64_t room = (size - sizeof(struct quipu_contexts)) / sizeof(struct quipu_context);
    if (part.capacity > room || part.count > part.capacity)
        return corrupt_chunk(arena, offset, "tells impossible numbers of calling contexts");
    uint64_t events_size = QUIPU_CALL_LANES * sizeof(uint64_t);
    if (events % sizeof(uint64_t) != 0 || file->size < events_size ||
        events > file->size - events_size)
        return corrupt_chunk(arena, offset, "tells an impossible place of its thread's count");
    if (events)
        part.events = (const volatile uint64_t *)(const void *)(file->bytes + events);
    part.nodes =
        (const struct quipu_context *)(const void *)(bytes +
                                                     offsetof(struct quipu_contexts, nodes));
    vector_push(arena, &file->contexts, part);
    return NULL;
}

static const char *read_chunks(struct arena *arena, struct data_file *file, uint64_t used) {
    for (uint64_t offset = QUIPU_PAGE, size; offset < used; offset += size) {
        const uint8_t *bytes = file->bytes + offset;
        uint32_t kind = (uint32_t)READ(bytes, struct quipu_chunk, kind);
        size = READ(bytes, struct quipu_chunk, size);
        if (size < QUIPU_PAGE || size % QUIPU_PAGE != 0 || size > used - offset)
            return corrupt_chunk(arena, offset, "has an impossible size");
        const char *cause = NULL;
        if (kind == QUIPU_MODULE)
            cause = read_module(arena, file, offset);
        else if (kind == QUIPU_BLOCKS)
            cause = read_blocks(arena, file, offset, size);
        else if (kind == QUIPU_CONTEXTS)
            cause = read_contexts(arena, file, offset, size);
        if (cause)
            return cause;
    }
    return file->modules.count ? NULL
                               : "it holds no counts: the program ended before its first one";
}

/* ---- the file ---- */

const char data_file_no_room[] = "there is no room to map it; where there are many data files, add "
                                 "them up by 'quipu merge' first";

static const char *map_file(struct data_file *file, const char *path) {
    /* a pipe is refused, not waited for */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    struct stat status;
    const char *cause = NULL;
    if (fstat(fd, &status) != 0) {
        cause = strerror(errno);
    } else if (!S_ISREG(status.st_mode)) {
        cause = "it is no regular file";
    } else if (status.st_size == 0) {
        cause = "it is empty";
    } else {
        void *memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED) {
            cause = errno == ENOMEM ? data_file_no_room : strerror(errno);
        } else {
            file->bytes = memory;
            file->size = (size_t)status.st_size;
        }
    }
    close(fd);
    return cause;
}

const char *data_file_open(struct arena *arena, const char *path, struct data_file *file) {
    *file = (struct data_file){.path = arena_copy(arena, path, strlen(path))};
    const char *cause = map_file(file, path);
    if (cause)
        return cause;
    uint64_t used = 0;
    cause = read_header(arena, file, &used);
    if (!cause)
        cause = read_chunks(arena, file, used);
    if (cause)
        data_file_close(file);
    return cause;
}

void data_file_close(struct data_file *file) {
    if (file->bytes)
        munmap((void *)(uintptr_t)file->bytes, file->size);
    file->bytes = NULL;
}

bool data_file_here(const char *path) {
    static const char magic[] = QUIPU_FILE_MAGIC;
    enum {
        LENGTH = 6 /* also what a copy as text left */
    };
    char bytes[LENGTH];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, bytes, LENGTH);
    close(fd);
    return got == LENGTH && memcmp(bytes, magic, LENGTH) == 0;
}
