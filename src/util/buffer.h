/* buffer.h: text or bytes that are built piece by piece; reads and writes whole files. */
#ifndef QUIPU_UTIL_BUFFER_H
#define QUIPU_UTIL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* A buffer of zeros is empty. It owns its bytes, and buffer_release frees them. */
struct buffer {
    char *data; /* NUL-terminated after the first addition */
    size_t count;
    size_t capacity;
};

void buffer_add(struct buffer *buffer, const void *bytes, size_t count);

/* Returns room for MOST bytes behind those that are there. Then buffer_extend adds those of them
 * that were written. */
void *buffer_room(struct buffer *buffer, size_t most);
void buffer_extend(struct buffer *buffer, size_t count);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_print(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_release(struct buffer *buffer);

/* Appends VALUE as ULEB128 (DWARF 5, section 7.6). */
void buffer_uleb128(struct buffer *buffer, unsigned long long value);

/* Appends everything that can be read from FD. Returns false, with errno set, on failure. */
bool buffer_read(struct buffer *buffer, int fd);

/* Appends the contents of the file at PATH. Returns false, with errno set, on failure. */
bool buffer_read_file(struct buffer *buffer, const char *path);

/* Writes COUNT bytes to FD, with as many calls of write as are needed. Returns false, with errno
 * set, on failure. */
bool write_whole(int fd, const void *bytes, size_t count);

#endif
