/* buffer.h: text or bytes built piece by piece, and whole files read and written. */
#ifndef QUIPU_UTIL_BUFFER_H
#define QUIPU_UTIL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* All zero is an empty buffer.  The bytes are owned; buffer_release frees them. */
struct buffer {
    char *data; /* always NUL-terminated once something was added */
    size_t count;
    size_t capacity;
};

void buffer_add(struct buffer *buffer, const void *bytes, size_t count);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_print(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_release(struct buffer *buffer);

/* Appends VALUE as ULEB128 (DWARF 5, section 7.6). */
void buffer_uleb128(struct buffer *buffer, unsigned long long value);

/* Appends all that FD still gives.  Returns false with errno set on failure. */
bool buffer_read(struct buffer *buffer, int fd);

/* Appends the file at PATH.  Returns false with errno set on failure. */
bool buffer_read_file(struct buffer *buffer, const char *path);

/* Writes COUNT bytes to FD, whatever the kernel takes at once.  Returns false with errno set. */
bool write_whole(int fd, const void *bytes, size_t count);

#endif
