/* packed_files.c: files in a recording; see packed_files.h and format/recording.h.
 *
 * Invariant: the parts of each file are in the recording, and their sizes add up to the file's.
 *
 * Not perfect: links are not packed. A path that no file has leads to the one that the loader knows
 * by the path's last part. If there are several, it is the one whose path ends most like it. */
#include "replay/packed_files.h"

#include "util/buffer.h"
#include "util/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
    LEVEL = 9 /* of zstd */
};

/* ---- reading ---- */

/* Takes the block of KIND at `next`. Returns its bytes, or NULL if the next one is another. */
static const uint8_t *take_block(struct recording *recording, enum quipu_recording_block_kind kind,
                                 struct quipu_recording_block *block) {
    size_t left = recording->size - recording->next;
    if (left < sizeof *block)
        return NULL;
    memcpy(block, recording->bytes + recording->next, sizeof *block);
    if (block->kind != kind || block->stored > left - sizeof *block)
        return NULL;
    const uint8_t *bytes = recording->bytes + recording->next + sizeof *block;
    recording->next += sizeof *block + block->stored;
    return bytes;
}

/* Takes apart the description of FILE. */
static bool read_description(const uint8_t *bytes, const struct quipu_recording_block *block,
                             struct packed_file *file) {
    struct cursor cursor = {bytes, bytes + block->stored, false};
    file->size = cursor_number(&cursor, sizeof file->size);
    file->path = cursor_text(&cursor);
    file->name = cursor_text(&cursor);
    return !cursor.failed && cursor_left(&cursor) == 0 && *file->path == '/';
}

bool read_packed_files(struct recording *recording) {
    struct quipu_recording_block block;
    const uint8_t *bytes;
    while ((bytes = take_block(recording, QUIPU_RECORDING_FILE, &block))) {
        struct packed_file file;
        uint64_t size = 0;
        if (!read_description(bytes, &block, &file))
            return false;
        file.parts = recording->next;
        while (size < file.size && take_block(recording, QUIPU_RECORDING_PART, &block) &&
               block.size && block.size <= QUIPU_RECORDING_FILE_PART)
            size += block.size;
        if (size != file.size)
            return false;
        vector_push(recording->arena, &recording->files, file);
    }
    return true;
}

/* Returns the number of characters that A and B have in common at their ends. */
static size_t common_end(const char *a, const char *b) {
    size_t i = strlen(a), j = strlen(b), count = 0;
    while (i && j && a[--i] == b[--j])
        count++;
    return count;
}

const struct packed_file *find_packed_file(const struct recording *recording, const char *path) {
    const struct packed_file *found = NULL;
    const char *name = last_part(path);
    for (size_t i = 0; i < recording->files.count; i++) {
        const struct packed_file *file = &recording->files.data[i];
        if (strcmp(file->path, path) == 0)
            return file;
        bool leads = strcmp(last_part(file->path), name) == 0 || strcmp(file->name, name) == 0;
        if (leads && (!found || common_end(file->path, path) > common_end(found->path, path)))
            found = file;
    }
    return found;
}

int extract_packed_file(const struct recording *recording, const struct packed_file *file) {
    struct recording reader = *recording;
    uint8_t *bytes = malloc(QUIPU_RECORDING_FILE_PART);
    int fd = memfd_create(last_part(file->path), MFD_CLOEXEC);
    bool good = bytes && fd >= 0;
    reader.next = file->parts;
    for (uint64_t done = 0; good && done < file->size;) {
        struct quipu_recording_block block = {0};
        const uint8_t *stored = take_block(&reader, QUIPU_RECORDING_PART, &block);
        size_t size =
            stored ? ZSTD_decompress(bytes, QUIPU_RECORDING_FILE_PART, stored, block.stored) : 0;
        good = size && size == block.size;
        if (!good)
            errno = EBADMSG;
        good = good && write_whole(fd, bytes, size);
        done += size;
    }
    free(bytes);
    if (good)
        return fd;
    int cause = errno;
    if (fd >= 0)
        close(fd);
    errno = cause;
    return -1;
}

/* ---- writing ---- */

static bool write_block(int to, enum quipu_recording_block_kind kind, const void *bytes,
                        size_t stored, size_t size) {
    const struct quipu_recording_block block = {
        .kind = kind, .stored = (uint32_t)stored, .size = (uint32_t)size};
    return write_whole(to, &block, sizeof block) && write_whole(to, bytes, stored);
}

static bool add_description(int to, uint64_t size, const char *path, const char *name) {
    struct buffer bytes = {0};
    buffer_add(&bytes, &size, sizeof size);
    buffer_add(&bytes, path, strlen(path) + 1);
    buffer_add(&bytes, name, strlen(name) + 1);
    bool good = write_block(to, QUIPU_RECORDING_FILE, bytes.data, bytes.count, 0);
    buffer_release(&bytes);
    return good;
}

/* Adds SIZE bytes. */
static bool add_part(int to, ZSTD_CCtx *context, const void *bytes, size_t size) {
    size_t room = ZSTD_compressBound(size);
    void *stored = malloc(room);
    size_t count = stored ? ZSTD_compress2(context, stored, room, bytes, size) : 0;
    bool good = count && !ZSTD_isError(count);
    if (!good)
        errno = ENOMEM;
    good = good && write_block(to, QUIPU_RECORDING_PART, stored, count, size);
    free(stored);
    return good;
}

bool add_packed_file(int to, int from, const char *path, const char *name) {
    struct stat status;
    uint8_t *bytes = malloc(QUIPU_RECORDING_FILE_PART);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    bool good = bytes && context && fstat(from, &status) == 0 &&
                add_description(to, (uint64_t)status.st_size, path, name);
    if (context) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    }
    for (off_t done = 0; good && done < status.st_size;) {
        ssize_t size = pread(from, bytes, QUIPU_RECORDING_FILE_PART, done);
        if (size == 0)
            errno = ESTALE; /* it has become shorter */
        good =
            size > 0 && size <= status.st_size - done && add_part(to, context, bytes, (size_t)size);
        done += size;
    }
    ZSTD_freeCCtx(context);
    free(bytes);
    return good;
}
