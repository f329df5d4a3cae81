/* earlier.h: placement by an earlier run: the readers' profile as the shim asks for it. */
#ifndef QUIPU_CMD_EARLIER_H
#define QUIPU_CMD_EARLIER_H

#include "flow/graph.h"

/* Reads the data at PATH, a data file or a directory of them.  What is wrong with it ends the
 * program with an error.  Returns false where it holds no function. */
bool open_earlier_counts(struct earlier_counts *counts, const char *path);

#endif
