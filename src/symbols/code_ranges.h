/* code_ranges.h: where the functions of a binary begin and end, by its call frame information,
 * which also stripped binaries have. */
#ifndef QUIPU_SYMBOLS_CODE_RANGES_H
#define QUIPU_SYMBOLS_CODE_RANGES_H

#include "util/arena.h"
#include "util/vector.h"

#include <stddef.h>
#include <stdint.h>

struct code_range {
    uint64_t offset; /* in the file */
    uint64_t size;
};

typedef VECTOR(struct code_range) code_range_list;

/* Sets RANGES to those of the ELF file of which FD is, sorted by their offsets. Without call frame
 * information, or with another encoding than compilers make for the small code models, there are
 * none. */
void read_code_ranges(struct arena *arena, int fd, code_range_list *ranges);

/* Returns the last range that begins at OFFSET or in front of it and contains it, or NULL. */
const struct code_range *find_code_range(const code_range_list *ranges, uint64_t offset);

#endif
