/* moved.h: binaries that are no longer where they ran. */
#ifndef QUIPU_SYMBOLS_MOVED_H
#define QUIPU_SYMBOLS_MOVED_H

#include "symbols/binary.h"

/* Looks in the directories of the environment variable QUIPU_BINARIES, between colons, for the
 * binary that ran as PATH: under that path below the directory, as in a copy of a file system, then
 * by its name in the directory. Its build id must be the begin of BUILD_ID, of SIZE bytes, or
 * begin with it. Returns it open, or NULL if there is none. */
struct binary *open_moved(struct arena *arena, const char *path, const uint8_t *build_id,
                          uint32_t size);

#endif
