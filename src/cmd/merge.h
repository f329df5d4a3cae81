/* merge.h: adds up data files. */
#ifndef QUIPU_CMD_MERGE_H
#define QUIPU_CMD_MERGE_H

#include <stddef.h>

/* Adds up the data files and directories in PATHS, into the file OUTPUT, which may be one of them.
 * OUTPUT is always complete: the sum, or what was there before. An error ends the program. */
void merge_files(char *const *paths, size_t count, const char *output);

#endif
