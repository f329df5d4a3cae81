/* packed_files.h: files that 'quipu pack' has put into a recording, so that it can be played where
 * they do not exist. */
#ifndef QUIPU_REPLAY_PACKED_FILES_H
#define QUIPU_REPLAY_PACKED_FILES_H

#include "replay/recording.h"

/* Finds the files in RECORDING, whose blocks of events follow them. Returns false if they are
 * corrupt. */
bool read_packed_files(struct recording *recording);

/* Returns the file that had PATH, or to which that leads, or NULL. */
const struct packed_file *find_packed_file(const struct recording *recording, const char *path);

/* Returns the descriptor of a file in memory with the bytes of FILE; or -1 with errno set: EBADMSG
 * if they are corrupt. */
int extract_packed_file(const struct recording *recording, const struct packed_file *file);

/* Adds a packed file with the PATH and NAME, and the bytes of the file FROM, to the file TO, a
 * recording that has no events yet. Returns false, with errno set, if one of them fails. */
bool add_packed_file(int to, int from, const char *path, const char *name);

#endif
