/* known_files.h: facts about parts of files, which need not be found anew each time that the file
 * is mapped.
 *
 * A file is known by its device, its inode, its size and the time of its last change. One that has
 * changed in the last seconds is not known: it may change again within the same tick of the
 * kernel's clock. */
#ifndef QUIPU_REPLAY_KNOWN_FILES_H
#define QUIPU_REPLAY_KNOWN_FILES_H

#include "util/map.h"

#include <stdbool.h>
#include <stdint.h>

/* A part of a file. */
struct file_part {
    uint64_t device, inode, size, seconds, nanoseconds;
    uint64_t offset, length;
};

/* Sets PART to LENGTH bytes from OFFSET of the file at PATH. Returns false if it cannot be known.
 */
bool describe_part(const char *path, uint64_t offset, uint64_t length, struct file_part *part);

/* Numbers by parts. One of zeros is empty. */
struct known_parts {
    struct arena arena;
    struct map map;
};

/* Returns the address of the number of PART, or NULL. */
uint32_t *find_part(const struct known_parts *known, const struct file_part *part);

void add_part(struct known_parts *known, const struct file_part *part, uint32_t number);
void forget_parts(struct known_parts *known);

#endif
