/* writer.c: writes a recording; see writer.h.
 *
 * The open block is in the file as it is, and in memory. When it is full, it is cut off and written
 * again compressed. Between these two calls it is in memory only.
 *
 * Invariant: the file has the closed blocks up to `block`, and behind them, if there are events in
 * memory, a header and these events. */
#include "replay/writer.h"

#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum {
    LEVEL = 1,          /* of zstd: the recorder shares the program's processor */
    LEVEL_OF_IMAGE = -5 /* the program stands meanwhile */
};

static void write_at(struct recording_writer *writer, const void *bytes, size_t size,
                     uint64_t place) {
    for (size_t done = 0; done < size && !writer->failure;) {
        ssize_t count =
            pwrite(writer->fd, (const char *)bytes + done, size - done, (off_t)(place + done));
        if (count > 0)
            done += (size_t)count;
        else if (count == 0 || errno != EINTR)
            writer->failure = count == 0 ? ENOSPC : errno;
    }
}

static struct quipu_recording_file first_header(void) {
    struct quipu_recording_file header = {.version = QUIPU_RECORDING_VERSION,
                                          .begin = sizeof header};
    memcpy(header.magic, QUIPU_RECORDING_MAGIC, sizeof header.magic);
    return header;
}

/* Makes the file empty, unless another process records to it: errno is EBUSY then. The lock tells
 * readers (recording_open), as what they map may be cut off. Where locks are not known there is
 * none. */
static bool take_file(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN)) {
        errno = EBUSY;
        return false;
    }
    return ftruncate(fd, 0) == 0 || errno == EINVAL; /* of a device */
}

bool recording_begin(struct recording_writer *writer, const char *path) {
    const struct quipu_recording_file header = first_header();
    *writer = (struct recording_writer){.begin = sizeof header, .block = sizeof header};
    writer->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (writer->fd < 0 || !take_file(writer->fd))
        return false;
    write_at(writer, &header, sizeof header, 0);
    errno = writer->failure;
    return !writer->failure;
}

struct buffer *recording_event(struct recording_writer *writer) {
    writer->event.count = 0;
    return &writer->event;
}

void put_number(struct buffer *event, uint64_t value, size_t size) {
    buffer_add(event, &value, size);
}

/* Small numbers of either sign have few bits then. */
static uint64_t fold_sign(int64_t value) {
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

void put_signed(struct buffer *event, int64_t value) {
    buffer_uleb128(event, fold_sign(value));
}

/* Makes room for SIZE bytes that are stored. */
static void reserve_stored(struct recording_writer *writer, size_t size) {
    if (size <= writer->room)
        return;
    free(writer->stored);
    writer->stored = malloc(size);
    writer->room = size;
    CHECK(writer->stored);
}

static void close_block(struct recording_writer *writer) {
    struct quipu_recording_block block = {.kind = writer->in_image ? QUIPU_RECORDING_IMAGE
                                                                   : QUIPU_RECORDING_COMPRESSED,
                                          .size = (uint32_t)writer->events.count};
    size_t most = ZSTD_compressBound(writer->events.count);
    if (!writer->context)
        writer->context = ZSTD_createCCtx();
    CHECK(writer->context);
    reserve_stored(writer, sizeof block + most);
    ZSTD_CCtx_setParameter(writer->context, ZSTD_c_compressionLevel,
                           writer->in_image ? LEVEL_OF_IMAGE : LEVEL);
    ZSTD_CCtx_setParameter(writer->context, ZSTD_c_checksumFlag, 1);
    size_t stored = ZSTD_compress2(writer->context, writer->stored + sizeof block, most,
                                   writer->events.data, writer->events.count);
    CHECK(!ZSTD_isError(stored));
    block.stored = (uint32_t)stored;
    memcpy(writer->stored, &block, sizeof block);
    if (!writer->failure && ftruncate(writer->fd, (off_t)writer->block) != 0)
        writer->failure = errno;
    write_at(writer, writer->stored, sizeof block + stored, writer->block);
    writer->block += sizeof block + stored;
    writer->events.count = writer->written = 0;
}

/* Writes the events that are not in the file yet. */
static void write_events(struct recording_writer *writer) {
    const struct quipu_recording_block block = {.kind = QUIPU_RECORDING_OPEN};
    const size_t count = writer->events.count - writer->written;
    if (!count)
        return;
    if (!writer->written)
        write_at(writer, &block, sizeof block, writer->block);
    write_at(writer, writer->events.data + writer->written, count,
             writer->block + sizeof block + writer->written);
    writer->written = writer->events.count;
}

void recording_gather(struct recording_writer *writer, bool on) {
    writer->gathers = on;
    if (!on)
        write_events(writer);
}

enum {
    HEAD_MOST = 1 + 2 * 10,                    /* bytes in front of those of an event */
    CALL_MOST = 10 + sizeof(uint32_t) + 1 + 10 /* of one of a call */
};

/* Writes VALUE as a ULEB128. Returns its size. */
static size_t write_uleb128(uint8_t *bytes, uint64_t value) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (uint8_t)value | 0x80;
    bytes[size++] = (uint8_t)value;
    return size;
}

/* Writes what is in front of an event of COUNT bytes. Returns its size. */
static size_t write_head(uint8_t head[HEAD_MOST], enum quipu_event_kind kind, uint32_t thread,
                         size_t count) {
    size_t size = 1;
    head[0] = (uint8_t)kind;
    size += write_uleb128(head + size, thread);
    return size + write_uleb128(head + size, count);
}

void put_event(struct buffer *events, enum quipu_event_kind kind, uint32_t thread,
               const void *bytes, size_t size) {
    uint8_t head[HEAD_MOST];
    buffer_add(events, head, write_head(head, kind, thread, size));
    buffer_add(events, bytes, size);
}

/* The event was added to those of the open block. */
static void end_event(struct recording_writer *writer) {
    if (!writer->gathers && !writer->in_image)
        write_events(writer);
    if (writer->events.count >= QUIPU_RECORDING_BLOCK_FULL)
        close_block(writer);
}

void recording_add(struct recording_writer *writer, enum quipu_event_kind kind, uint32_t thread) {
    CHECK(writer->event.count <= QUIPU_RECORDING_EVENT_MAX);
    put_event(&writer->events, kind, thread, writer->event.data, writer->event.count);
    end_event(writer);
}

void recording_add_call(struct recording_writer *writer, uint32_t thread, uint64_t number,
                        uint32_t hash, int stream, int64_t result) {
    uint8_t event[CALL_MOST];
    size_t size = write_uleb128(event, number);
    memcpy(event + size, &hash, sizeof hash);
    size += sizeof hash;
    event[size++] = (uint8_t)stream;
    size += write_uleb128(event + size, fold_sign(result));
    uint8_t *room = buffer_room(&writer->events, HEAD_MOST + size);
    size_t head = write_head(room, QUIPU_EVENT_CALL, thread, size);
    memcpy(room + head, event, size);
    buffer_extend(&writer->events, head + size);
    end_event(writer);
}

/* Returns the number of the argument that is ADDRESS, or QUIPU_MEMORY_ADDRESS. */
static uint8_t find_argument(const uint64_t arguments[6], uint64_t address) {
    uint8_t argument = 0;
    while (argument < QUIPU_MEMORY_ADDRESS && !(arguments && arguments[argument] == address))
        argument++;
    return argument;
}

void recording_add_memory(struct recording_writer *writer, uint32_t thread, uint64_t address,
                          const uint8_t *bytes, size_t size, const uint64_t arguments[6]) {
    for (size_t done = 0; done < size;) {
        const size_t most = QUIPU_RECORDING_MEMORY_MAX;
        const size_t part = size - done < most ? size - done : most;
        const uint64_t place = address + done;
        const uint8_t argument = find_argument(arguments, place);
        const size_t begin = argument == QUIPU_MEMORY_ADDRESS ? 1 + sizeof place : 1;
        uint8_t *room = buffer_room(&writer->events, HEAD_MOST + begin + part);
        size_t head = write_head(room, QUIPU_EVENT_MEMORY, thread, begin + part);
        room[head] = argument;
        if (begin > 1)
            memcpy(room + head + 1, &place, sizeof place);
        memcpy(room + head + begin, bytes + done, part);
        buffer_extend(&writer->events, head + begin + part);
        end_event(writer);
        done += part;
    }
}

void recording_end(struct recording_writer *writer) {
    if (writer->events.count)
        close_block(writer);
    if (close(writer->fd) != 0 && !writer->failure)
        writer->failure = errno;
    buffer_release(&writer->events);
    buffer_release(&writer->event);
    ZSTD_freeCCtx(writer->context);
    free(writer->stored);
}

/* ---- recordings of the end of a run ---- */

uint64_t recording_begin_image(struct recording_writer *writer) {
    if (writer->events.count)
        close_block(writer);
    writer->in_image = true;
    return writer->block;
}

void recording_end_image(struct recording_writer *writer) {
    if (writer->events.count)
        close_block(writer);
    writer->in_image = false;
}

void recording_drop(struct recording_writer *writer, uint64_t place) {
    const uint64_t first = sizeof(struct quipu_recording_file);
    write_at(writer, &place, sizeof place, offsetof(struct quipu_recording_file, begin));
    writer->begin = place;
    if (!writer->failure) /* where that is not possible, the file stays long until its end */
        fallocate(writer->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first,
                  (off_t)(place - first));
}

static bool copy_bytes(int from, off_t place, int to) {
    static char bytes[1 << 16];
    ssize_t count;
    while ((count = pread(from, bytes, sizeof bytes, place)) > 0) {
        if (!write_whole(to, bytes, (size_t)count))
            return false;
        place += count;
    }
    return count == 0;
}

int recording_copy(const struct recording_writer *writer, int fd, const struct buffer *ends) {
    const struct quipu_recording_file header = first_header();
    const struct quipu_recording_block block = {.kind = QUIPU_RECORDING_OPEN};
    bool is_open = writer->events.count || !ends->count;
    bool good = write_whole(fd, &header, sizeof header) &&
                copy_bytes(writer->fd, (off_t)writer->begin, fd) &&
                (is_open || write_whole(fd, &block, sizeof block)) &&
                write_whole(fd, ends->data, ends->count);
    return good ? 0 : errno;
}

void recording_compact(struct recording_writer *writer, const char *path) {
    const struct buffer none = {0};
    char *temporary = NULL;
    if (writer->failure || writer->begin == sizeof(struct quipu_recording_file) ||
        asprintf(&temporary, "%s.new", path) < 0)
        return;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int cause = fd < 0 ? errno : recording_copy(writer, fd, &none);
    if (fd >= 0 && (close(fd) != 0 || cause || rename(temporary, path) != 0))
        unlink(temporary); /* the long one is as good */
    free(temporary);
}
