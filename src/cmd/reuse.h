/* reuse.h: the results of 'quipu reuse' as tables and as a plot. */
#ifndef QUIPU_CMD_REUSE_H
#define QUIPU_CMD_REUSE_H

#include "cache/reuse.h"
#include "report/table.h"

#include <stdbool.h>

struct reuse_view;

/* Returns the view with that NAME, from --by=NAME. An unknown name ends the program with an error.
 */
const struct reuse_view *choose_reuse_view(const char *name);

struct reuse_options {
    const struct reuse_view *view;
    const struct table_format *format;
    const char *output;
    size_t limit; /* rows; 0: all */
    bool human;
    uint32_t line; /* bytes */
    uint64_t window;
};

/* Writes the view of what REUSE has counted in the file PATH. */
void write_reuse_table(const struct reuse_options *options, const struct reuse *reuse,
                       const char *path);

/* Writes all as a picture: misses by size, and the working set by time. */
void write_reuse_svg(const struct reuse_options *options, const struct reuse *reuse,
                     const char *path);

#endif
