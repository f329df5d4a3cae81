/* merge_calls.h: calling contexts of several data files as one tree of a merged one. */
#ifndef QUIPU_CMD_MERGE_CALLS_H
#define QUIPU_CMD_MERGE_CALLS_H

#include "data/datafile.h"
#include "util/buffer.h"

/* Where the module with that NUMBER lies in a merged file: none overlap. */
uint64_t merged_load_bias(size_t number);

/* Appends a chunk with the calling contexts of the data files in PATHS.  MODULES are those of the
 * merged file, by number.  Ends the program with an error where a binary is gone. */
void merge_calls(struct buffer *buffer, const char *const *paths, size_t path_count,
                 const struct data_module *const *modules, size_t module_count);

#endif
