/* datafile.c: the contents of a data file; see datafile.h and format/data_file.h.
 *
 * No number of the file is trusted. Each is read once, then compared with the space that it must
 * fit into. A running program only makes the file longer, and increases `size` when the chunk below
 * it is complete. So a check that was made stays valid. */
#include "data/datafile.h"

#include "format/calls.h"
#include "format/data_file.h"
#include "format/event.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file while it is read. */
struct look {
    struct arena *arena;
    struct data_file *file;
    struct data_reader reader;
    size_t size; /* of the file, when its header was read */
};

#define READ(bytes, type, field)                                                                   \
    read_field((bytes) + offsetof(type, field), sizeof((type){0}.field))

/* Returns the unsigned number of SIZE bytes at BYTES. Reads it by one access, even if it is being
 * written. */
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

static const char *check_header(struct arena *arena, const uint8_t *bytes, uint64_t *used) {
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
    return NULL;
}

/* Copies SIZE bytes of text. Returns NULL if they contain no NUL. */
static const char *copy_text(struct arena *arena, const uint8_t *bytes, size_t size) {
    size_t length = strnlen((const char *)bytes, size);
    return length < size ? arena_copy(arena, (const char *)bytes, length) : NULL;
}

/* Returns the arguments, joined by blanks, or NULL if they do not end with two NULs. An argument
 * may be empty, so the arguments end where only NULs follow. */
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

static const char *read_header(struct look *look, const uint8_t *bytes, uint64_t *used) {
    struct arena *arena = look->arena;
    struct data_file *file = look->file;
    const char *cause = check_header(arena, bytes, used);
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
    file->rank = READ(bytes, struct quipu_file, rank);
    file->start_time = READ(bytes, struct quipu_file, start_time);
    file->merged = READ(bytes, struct quipu_file, flags) & QUIPU_FILE_MERGED;
    file->processes = file->merged ? READ(bytes, struct quipu_file, processes) : 1;
    file->mixed = (READ(bytes, struct quipu_file, flags) & QUIPU_FILE_MIXED) || !file->processes;
    file->incomplete = READ(bytes, struct quipu_file, flags) & QUIPU_FILE_INCOMPLETE;
    return NULL;
}

/* ---- chunks ---- */

static const char *corrupt_chunk(struct arena *arena, uint64_t offset, const char *what) {
    return arena_print(arena, "it is corrupt: the chunk at byte %llu %s",
                       (unsigned long long)offset, what);
}

static const char *read_module(struct look *look, const uint8_t *bytes, uint64_t offset) {
    struct arena *arena = look->arena;
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
    vector_push(arena, &look->file->modules, module);
    return NULL;
}

static const char *read_load(struct look *look, const uint8_t *bytes, uint64_t offset) {
    struct data_file *file = look->file;
    uint64_t number = READ(bytes, struct quipu_load, module);
    if (number >= file->modules.count)
        return corrupt_chunk(look->arena, offset, "belongs to a module that is not in the file");
    vector_push(look->arena, &file->modules.data[number].load_biases,
                READ(bytes, struct quipu_load, load_bias));
    return NULL;
}

/* Adds the slots that have an owner. Those without owner are all zero. SLOTS is their table. */
static void add_slots(struct look *look, uint32_t module, const uint8_t *slots, uint32_t count,
                      uint64_t offset, uint64_t stride) {
    struct data_file *file = look->file;
    uint32_t first = file->modules.data[module].slot_count;
    file->modules.data[module].slot_count += count;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *slot = slots + i * sizeof(struct quipu_slot);
        uint32_t owner = (uint32_t)READ(slot, struct quipu_slot, owner);
        if (!owner && !file->merged)
            continue;
        vector_push(look->arena, &file->slots,
                    ((struct data_slot){
                        .module = module,
                        .owner = owner,
                        .threads = (uint32_t)READ(slot, struct quipu_slot, threads),
                        .slot = first + i,
                        .offset = offset + i * stride,
                    }));
    }
}

static const char *read_blocks(struct look *look, const uint8_t *bytes, uint64_t offset,
                               uint64_t size) {
    struct arena *arena = look->arena;
    const struct data_file *file = look->file;
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
    const char *cause = NULL;
    const uint8_t *head = slots_end > QUIPU_PAGE
                              ? data_reader_bytes(&look->reader, offset, slots_end, &cause)
                              : bytes;
    if (head)
        add_slots(look, module, head + offsetof(struct quipu_blocks, slots), (uint32_t)count,
                  offset + cells, stride);
    return cause;
}

static const char *read_contexts(struct look *look, const uint8_t *bytes, uint64_t offset,
                                 uint64_t size) {
    struct arena *arena = look->arena;
    struct data_contexts part;
    memset(&part, 0, sizeof part);
    part.thread = READ(bytes, struct quipu_call_tree, thread);
    part.owner = (uint32_t)READ(bytes, struct quipu_call_tree, owner);
    part.flags = (uint32_t)READ(bytes, struct quipu_call_tree, flags);
    part.first_index = READ(bytes, struct quipu_call_tree, first_index);
    part.count = (uint32_t)READ(bytes, struct quipu_call_tree, count);
    part.capacity = (uint32_t)READ(bytes, struct quipu_call_tree, capacity);
    part.events_base = READ(bytes, struct quipu_call_tree, events_base);
    uint64_t events = READ(bytes, struct quipu_call_tree, events_cell);
    uint64_t room = (size - sizeof(struct quipu_call_tree)) / sizeof(struct quipu_context);
    if (part.capacity > room || part.count > part.capacity)
        return corrupt_chunk(arena, offset, "tells impossible numbers of calling contexts");
    uint64_t events_size = QUIPU_CALL_LANES * sizeof(uint64_t);
    if (events % sizeof(uint64_t) != 0 || look->size < events_size ||
        events > look->size - events_size)
        return corrupt_chunk(arena, offset, "tells an impossible place of its thread's count");
    part.events_offset = events;
    part.nodes_offset = offset + offsetof(struct quipu_call_tree, nodes);
    vector_push(arena, &look->file->contexts, part);
    return NULL;
}

static const char *read_chunks(struct look *look, uint64_t used) {
    for (uint64_t offset = QUIPU_PAGE, size; offset < used; offset += size) {
        const char *cause = NULL;
        const uint8_t *bytes = data_reader_bytes(&look->reader, offset, QUIPU_PAGE, &cause);
        if (!bytes)
            return cause;
        uint32_t kind = (uint32_t)READ(bytes, struct quipu_chunk, kind);
        size = READ(bytes, struct quipu_chunk, size);
        if (size < QUIPU_PAGE || size % QUIPU_PAGE != 0 || size > used - offset)
            return corrupt_chunk(look->arena, offset, "has an impossible size");
        if (kind == QUIPU_MODULE)
            cause = read_module(look, bytes, offset);
        else if (kind == QUIPU_BLOCKS)
            cause = read_blocks(look, bytes, offset, size);
        else if (kind == QUIPU_CALL_TREE)
            cause = read_contexts(look, bytes, offset, size);
        else if (kind == QUIPU_LOAD)
            cause = read_load(look, bytes, offset);
        if (cause)
            return cause;
    }
    return look->file->modules.count ? NULL
                                     : "it holds no counts: the program ended before its first one";
}

/* ---- the file ---- */

/* Sets look.size, which a running program may have increased since its header was read. Returns
 * NULL, or an error message for a file of that size. */
static const char *check_size(struct look *look) {
    struct stat status;
    if (fstat(look->reader.fd, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "it is no regular file";
    look->size = (size_t)status.st_size;
    return look->size ? NULL : "it is empty";
}

static const char *read_file(struct look *look) {
    uint8_t header[QUIPU_PAGE];
    uint64_t used = 0;
    const char *cause = check_size(look); /* do not read a pipe */
    if (cause)
        return cause;
    ssize_t got = pread(look->reader.fd, header, sizeof header, 0);
    if (got < 0)
        return strerror(errno);
    cause = check_magic(header, (size_t)got);
    if (cause)
        return cause;
    if (got < QUIPU_PAGE)
        return arena_print(look->arena, "it is truncated: %zd bytes are there, its header has %d",
                           got, QUIPU_PAGE);
    cause = read_header(look, header, &used);
    if (!cause)
        cause = check_size(look);
    if (!cause && used > look->size)
        cause = arena_print(look->arena, "it is truncated: %zu bytes are there, %llu are in use",
                            look->size, (unsigned long long)used);
    return cause ? cause : read_chunks(look, used);
}

const char *data_file_read(struct arena *arena, const char *path, struct data_file *file) {
    *file = (struct data_file){.path = arena_copy(arena, path, strlen(path))};
    struct look look = {.arena = arena, .file = file};
    const char *cause = data_reader_open(&look.reader, file);
    if (cause)
        return cause;
    cause = read_file(&look);
    data_reader_close(&look.reader);
    return cause;
}

bool data_file_is_running(const struct data_file *file) {
    return !file->merged && file->pid && (kill((pid_t)file->pid, 0) == 0 || errno == EPERM);
}

bool data_file_here(const char *path) {
    static const char magic[] = QUIPU_FILE_MAGIC;
    enum {
        LENGTH = 6 /* a copy as text has this part, too */
    };
    char bytes[LENGTH];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, bytes, LENGTH);
    close(fd);
    return got == LENGTH && memcmp(bytes, magic, LENGTH) == 0;
}
