/* writer.c: writes a trace file; see writer.h. Whatever ends this process, the file is good up to
 * its last complete block. */
#include "trace/writer.h"

#include "format/trace.h"
#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

struct trace_writer {
    struct arena *arena;
    const char *path;
    int fd, level;
    int error; /* errno of the write that failed, or 0 */
    ZSTD_CCtx *context;
    uint8_t stored[ZSTD_COMPRESSBOUND(QUIPU_TRACE_CONTENTS_MAX)];
};

/* Writes all of the parts, which are changed. */
static void write_parts(struct trace_writer *writer, struct iovec *parts, int count) {
    while (count > 0 && !writer->error) {
        ssize_t written = writev(writer->fd, parts, count);
        if (written < 0 && errno != EINTR)
            writer->error = errno;
        for (; written > 0 && count > 0; parts++, count--) {
            size_t done = (size_t)written < parts->iov_len ? (size_t)written : parts->iov_len;
            parts->iov_base = (char *)parts->iov_base + done;
            parts->iov_len -= done;
            written -= (ssize_t)done;
            if (parts->iov_len)
                break;
        }
        while (count > 0 && parts->iov_len == 0) {
            parts++;
            count--;
        }
    }
}

struct trace_writer *writer_begin(struct arena *arena, const char *path, int level) {
    struct trace_writer *writer = ARENA_NEW(arena, struct trace_writer);
    struct quipu_trace_file header = {.version = QUIPU_TRACE_VERSION};
    memcpy(header.magic, QUIPU_TRACE_MAGIC, sizeof header.magic);
    writer->arena = arena;
    writer->path = arena_copy(arena, path, strlen(path));
    writer->level = level;
    writer->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->fd >= 0)
        write_parts(writer, &(struct iovec){&header, sizeof header}, 1);
    if (writer->fd < 0 || writer->error)
        die("cannot write '%s': %s", path, strerror(writer->error ? writer->error : errno));
    writer->context = ZSTD_createCCtx();
    if (!writer->context)
        die("cannot write '%s': %s", path, strerror(ENOMEM));
    ZSTD_CCtx_setParameter(writer->context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(writer->context, ZSTD_c_checksumFlag, 1);
    return writer;
}

void writer_add(struct trace_writer *writer, const struct quipu_trace_chunk *chunk,
                const void *contents, size_t size) {
    struct quipu_trace_block block = {
        .stored = (uint32_t)size, .size = (uint32_t)size, .chunk = *chunk};
    struct iovec parts[] = {{&block, sizeof block}, {(void *)contents, size}};
    if (writer->level && size) {
        size_t stored =
            ZSTD_compress2(writer->context, writer->stored, sizeof writer->stored, contents, size);
        if (!ZSTD_isError(stored) && stored < size) {
            block.stored = (uint32_t)stored;
            parts[1] = (struct iovec){writer->stored, stored};
        }
    }
    write_parts(writer, parts, 2);
}

bool writer_failed(const struct trace_writer *writer) {
    return writer->error;
}

const char *writer_end(struct trace_writer *writer, unsigned flags) {
    struct quipu_trace_chunk last = {.kind = QUIPU_TRACE_LAST, .number = flags};
    writer_add(writer, &last, NULL, 0);
    if (close(writer->fd) != 0 && !writer->error)
        writer->error = errno;
    ZSTD_freeCCtx(writer->context);
    return writer->error ? arena_print(writer->arena, "cannot write '%s': %s; the trace ends there",
                                       writer->path, strerror(writer->error))
                         : NULL;
}
