/* earlier.h: placement of counters by an earlier run: gives the shim the profile of the readers. */
#ifndef QUIPU_CMD_EARLIER_H
#define QUIPU_CMD_EARLIER_H

#include "flow/graph.h"

/* Reads the data at PATH, a data file or a directory of them. Ends the program with an error if
 * something is wrong with it. Returns false if it contains no function. */
bool open_earlier_counts(struct earlier_counts *counts, const char *path);

#endif
