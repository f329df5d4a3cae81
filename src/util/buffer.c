/* buffer.c: text or bytes that are built piece by piece; see buffer.h. */
#include "util/buffer.h"

#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes room for MORE bytes and the final NUL. */
static void reserve(struct buffer *buffer, size_t more) {
    if (buffer->capacity - buffer->count > more)
        return;
    if (more > SIZE_MAX / 4 || buffer->count > SIZE_MAX / 4)
        die("a text of more than %zu bytes is too large", buffer->count);
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    while (capacity - buffer->count <= more)
        capacity *= 2;
    char *data = realloc(buffer->data, capacity);
    if (!data)
        die("out of memory: %zu bytes asked for", capacity);
    buffer->data = data;
    buffer->capacity = capacity;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t count) {
    reserve(buffer, count);
    if (count)
        memcpy(buffer->data + buffer->count, bytes, count);
    buffer->count += count;
    buffer->data[buffer->count] = '\0';
}

void *buffer_room(struct buffer *buffer, size_t most) {
    reserve(buffer, most);
    return buffer->data + buffer->count;
}

void buffer_extend(struct buffer *buffer, size_t count) {
    buffer->count += count;
    buffer->data[buffer->count] = '\0';
}

void buffer_text(struct buffer *buffer, const char *text) {
    buffer_add(buffer, text, strlen(text));
}

void buffer_print(struct buffer *buffer, const char *format, ...) {
    va_list arguments;
    reserve(buffer, 127);
    size_t room = buffer->capacity - buffer->count;
    va_start(arguments, format);
    int length = vsnprintf(buffer->data + buffer->count, room, format, arguments);
    va_end(arguments);
    if (length < 0)
        die("cannot format '%s'", format);
    if ((size_t)length >= room) {
        reserve(buffer, (size_t)length);
        va_start(arguments, format);
        vsnprintf(buffer->data + buffer->count, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    buffer->count += (size_t)length;
}

void buffer_release(struct buffer *buffer) {
    free(buffer->data);
    *buffer = (struct buffer){0};
}

void buffer_uleb128(struct buffer *buffer, unsigned long long value) {
    do {
        unsigned char byte = value & 0x7f;
        value >>= 7;
        if (value)
            byte |= 0x80;
        buffer_add(buffer, &byte, 1);
    } while (value);
}

bool buffer_read(struct buffer *buffer, int fd) {
    for (;;) {
        reserve(buffer, 1 << 16);
        ssize_t got = read(fd, buffer->data + buffer->count, buffer->capacity - buffer->count - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        buffer->count += (size_t)got;
        buffer->data[buffer->count] = '\0';
        if (got == 0)
            return true;
    }
}

bool buffer_read_file(struct buffer *buffer, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = buffer_read(buffer, fd);
    int saved = errno;
    close(fd);
    errno = saved;
    return good;
}

bool write_whole(int fd, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count) {
        ssize_t put = write(fd, next, count);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        next += put;
        count -= (size_t)put;
    }
    return true;
}
