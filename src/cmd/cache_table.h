/* cache_table.h: the counts of 'quipu cache' as a table. */
#ifndef QUIPU_CMD_CACHE_TABLE_H
#define QUIPU_CMD_CACHE_TABLE_H

#include "cache/cache.h"
#include "cache/source.h"
#include "cmd/parts.h"
#include "report/table.h"

/* What a row is. */
struct cache_view {
    const char *name; /* as in --by=NAME */
    enum place_kind place;
    struct table_shape shape;
};

/* Returns the view with that NAME. An unknown name ends the program with an error. */
const struct cache_view *choose_cache_view(const char *name);

/* Returns the view whose rows are places of KIND. */
const struct cache_view *cache_view_of(enum place_kind kind);

struct cache_options {
    struct hierarchy_shape shape;
    unsigned processors; /* 0: one, and the threads come one after the other */
    bool of_threads;     /* each thread has one of its own */
    const struct source_format *from;
    const struct cache_view *view;
    const struct table_format *format;
    const char *sort;
    const char *allocators; /* as in cache/source.h */
    const char *output;
    text_vector layouts; /* binaries whose addresses instructions get */
    struct part_options parts;
    size_t limit;
    bool human;
};

/* Writes the COUNTS of SOURCE's places. */
void write_cache_table(const struct cache_options *options, const struct reference_source *source,
                       const struct cache_counts *counts);

#endif
