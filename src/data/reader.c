/* reader.c: reads the bytes of a data file; see datafile.h.
 *
 * They are read, not mapped. So thousands of files need little memory, threads do not wait for each
 * other, and a file that is truncated meanwhile causes an error, not a signal. The file of a
 * running process is mapped, since each cell must be read by one access.
 *
 * Most cells belong to code that never ran. The runtime leaves their pages unwritten. The file
 * system reports which pages were never written (lseek(2), SEEK_DATA), and the reader skips them.
 *
 * Not perfect: if the file of a running process is truncated while it is read, SIGBUS ends the
 * tool. */
#include "data/datafile.h"
#include "format/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PIECE = 1 << 16, /* bytes per read */
};

static const char truncated[] = "it was truncated while it was read";

const char *data_reader_open(struct data_reader *reader, const struct data_file *file) {
    /* reject a pipe, do not wait for it */
    *reader = (struct data_reader){
        .fd = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC),
        .running = data_file_is_running(file),
    };
    return reader->fd < 0 ? strerror(errno) : NULL;
}

static void unmap(struct data_reader *reader) {
    if (reader->mapping)
        munmap(reader->mapping, reader->mapped);
    reader->mapping = NULL;
}

void data_reader_close(struct data_reader *reader) {
    unmap(reader);
    free(reader->buffer);
    reader->buffer = NULL;
    if (reader->fd >= 0)
        close(reader->fd);
    reader->fd = -1;
}

static const void *map_bytes(struct data_reader *reader, uint64_t offset, size_t size,
                             const char **cause) {
    uint64_t before = offset % QUIPU_PAGE;
    unmap(reader);
    void *mapping =
        mmap(NULL, size + before, PROT_READ, MAP_SHARED, reader->fd, (off_t)(offset - before));
    if (mapping == MAP_FAILED) {
        *cause = strerror(errno);
        return NULL;
    }
    reader->mapping = mapping;
    reader->mapped = size + before;
    return (const uint8_t *)mapping + before;
}

static bool reserve(struct data_reader *reader, size_t size, const char **cause) {
    if (size <= reader->capacity)
        return true;
    free(reader->buffer);
    reader->capacity = size < PIECE ? PIECE : size;
    reader->buffer = malloc(reader->capacity);
    if (!reader->buffer) {
        reader->capacity = 0;
        *cause = strerror(ENOMEM);
    }
    return reader->buffer != NULL;
}

static bool read_bytes(struct data_reader *reader, uint64_t offset, size_t size,
                       const char **cause) {
    for (size_t have = 0; have < size;) {
        ssize_t got = pread(reader->fd, reader->buffer + have, size - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            *cause = got < 0 ? strerror(errno) : truncated;
            return false;
        }
        have += (size_t)got;
    }
    return true;
}

const void *data_reader_bytes(struct data_reader *reader, uint64_t offset, size_t size,
                              const char **cause) {
    if (reader->running)
        return map_bytes(reader, offset, size, cause);
    if (!reserve(reader, size, cause) || !read_bytes(reader, offset, size, cause))
        return NULL;
    return reader->buffer;
}

/* ---- cells ---- */

void add_cells(const uint64_t *cells, size_t count, uint64_t *sums, bool shared) {
    for (size_t i = 0; i < count; i++) {
        uint64_t cell = __atomic_load_n(&cells[i], __ATOMIC_RELAXED);
        if (!shared)
            sums[i] += cell;
        else if (cell)
            __atomic_fetch_add(&sums[i], cell, __ATOMIC_RELAXED);
    }
}

static const char *add_running(struct data_reader *reader, uint64_t offset, uint64_t count,
                               uint64_t *sums, bool shared) {
    const char *cause = NULL;
    const uint64_t *cells = map_bytes(reader, offset, count * sizeof *cells, &cause);
    if (cells)
        add_cells(cells, count, sums, shared);
    return cause;
}

/* Returns the next byte from OFFSET on that may not be zero, or END if there is none before it.
 * Sets reader.hole to the begin of the zeros behind that byte. The kernel examines all pages up to
 * there, so one query serves all slots. */
static uint64_t find_data(struct data_reader *reader, uint64_t offset, uint64_t end) {
    if (offset >= reader->data && offset < reader->hole)
        return offset;
    off_t data = lseek(reader->fd, (off_t)offset, SEEK_DATA);
    if (data < 0 && errno == ENXIO)
        return end;
    off_t hole = data < 0 ? -1 : lseek(reader->fd, data, SEEK_HOLE);
    bool known = hole > data && data % QUIPU_PAGE == 0 && hole % QUIPU_PAGE == 0;
    reader->data = known && (uint64_t)data > offset ? (uint64_t)data : offset;
    reader->hole = known ? (uint64_t)hole : UINT64_MAX; /* the file system does not support it */
    return reader->data < end ? reader->data : end;
}

const char *data_reader_add(struct data_reader *reader, uint64_t offset, uint64_t count,
                            uint64_t *sums, bool shared) {
    if (reader->running)
        return count ? add_running(reader, offset, count, sums, shared) : NULL;
    const char *cause = NULL;
    uint64_t end = offset + count * sizeof *sums;
    if (!reserve(reader, PIECE, &cause))
        return cause;
    for (uint64_t at = offset; (at = find_data(reader, at, end)) < end;) {
        uint64_t stop = reader->hole < end ? reader->hole : end;
        size_t size = stop - at < PIECE ? stop - at : PIECE;
        if (!read_bytes(reader, at, size, &cause))
            return cause;
        add_cells((const uint64_t *)(const void *)reader->buffer, size / sizeof *sums,
                  sums + (at - offset) / sizeof *sums, shared);
        at += size;
    }
    return NULL;
}
