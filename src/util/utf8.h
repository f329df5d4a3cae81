/* utf8.h: telling text from other bytes. */
#ifndef QUIPU_UTIL_UTF8_H
#define QUIPU_UTIL_UTF8_H

#include <stddef.h>

/* Returns the length of the well-formed UTF-8 sequence (Unicode 15, table 3-7) that the
 * NUL-terminated TEXT begins with: 1 to 4, or 0 where it begins with none.  The terminating NUL is
 * none. */
size_t utf8_length(const char *text);

#endif
