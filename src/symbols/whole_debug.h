/* whole_debug.h: files of debug information that libelf may be unable to decompress. */
#ifndef QUIPU_SYMBOLS_WHOLE_DEBUG_H
#define QUIPU_SYMBOLS_WHOLE_DEBUG_H

/* Returns a descriptor of a copy of the file FD in memory, in which the sections are decompressed
 * that Zstandard has compressed. Returns -1 if there are none; or, with a warning about PATH, if
 * they cannot be decompressed. FD stays open. */
int whole_debug(int fd, const char *path);

#endif
