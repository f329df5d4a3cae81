/* merge_calls.h: makes one tree of the calling contexts of several data files, for a merged
 * file. */
#ifndef QUIPU_CMD_MERGE_CALLS_H
#define QUIPU_CMD_MERGE_CALLS_H

#include "data/datafile.h"
#include "util/buffer.h"

/* Returns the load bias of module NUMBER in a merged file. Modules do not overlap. */
uint64_t merged_load_bias(size_t number);

/* Appends a chunk with the calling contexts of the data files in PATHS. MODULES are those of the
 * merged file, by number. Ends the program with an error if a binary is missing. */
void merge_calls(struct buffer *buffer, const char *const *paths, size_t path_count,
                 const struct data_module *const *modules, size_t module_count);

#endif
