/* whole_debug.h: files of debug information whose sections libelf may not know how to decompress.
 */
#ifndef QUIPU_SYMBOLS_WHOLE_DEBUG_H
#define QUIPU_SYMBOLS_WHOLE_DEBUG_H

/* Returns a descriptor of a copy of the file FD in memory, with the sections whole that Zstandard
 * has compressed; -1 where there are none, or they cannot be decompressed, which is told of PATH.
 * FD stays open. */
int whole_debug(int fd, const char *path);

#endif
