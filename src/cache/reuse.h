/* reuse.h: stack distances of references: how many other lines were used since the last use of the
 * same line. They give the misses of fully associative caches of all sizes at once: a cache of N
 * lines that replaces the least recent one misses exactly where the distance is N or more.
 *
 * Source: Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for storage hierarchies", IBM
 * Systems Journal 9 (1970), 2. The distance is counted in a Fenwick tree over the last uses of
 * lines, as in Bennett and Kruskal, "LRU stack processing", IBM Journal of Research and Development
 * 19 (1975), 4; Fenwick, "A new data structure for cumulative frequency tables", Software: Practice
 * and Experience 24 (1994), 3.
 *
 * A reference that is on several lines has the largest of their distances. So it is missed where
 * any of its lines is, as in cache.h. */
#ifndef QUIPU_CACHE_REUSE_H
#define QUIPU_CACHE_REUSE_H

#include "cache/number_table.h"
#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As a distance: no earlier reference has used the line. It is above all others. */
#define REUSE_FIRST UINT64_MAX

/* A line that was used. */
struct used_line {
    uint64_t slot;   /* of its last use */
    uint64_t window; /* 1 + the last window that used it */
};

/* Uses get slots by rising number. A slot is in use if it is that of a line's last use, and then
 * its bit is set. If all slots are given away, the lines get new ones from 0, in the same order.
 * Invariant: tree[] has sums of the bits of words (Fenwick 1994), from index 1. */
struct reuse {
    struct arena arena; /* of the results */
    unsigned line_bits;
    struct number_table numbers;    /* 1 + index in `lines`, by address of the line / its size */
    VECTOR(struct used_line) lines; /* in the order of their first uses */
    uint64_t *bits;                 /* by slot; owned, as the next two are */
    uint32_t *tree;
    uint32_t *owners; /* by slot: index of the line */
    uint64_t slots, next_slot;
    uint64_t recent; /* the line of the last use */

    uint64_t references;
    uint64_t first_uses;          /* references with a line that no earlier one has used */
    VECTOR(uint64_t) distances;   /* number of references, by distance */
    uint64_t window;              /* references in a window; 0: no windows */
    VECTOR(uint64_t) working_set; /* number of lines that each window used */
};

/* Begins without references. LINE is the size of a line in bytes, a power of two. WINDOW is the
 * number of references in each window; 0: none are kept. */
void reuse_begin(struct reuse *reuse, uint32_t line, uint64_t window);
void reuse_release(struct reuse *reuse);

/* Counts a reference of SIZE bytes, at least 1. */
void reuse_use(struct reuse *reuse, uint64_t address, uint32_t size);

/* The steps of reuse_use, for parts of a trace (reuse_part.h).
 *
 * reuse_use_line uses LINE, an address divided by the size of a line, and returns its distance, or
 * REUSE_FIRST. reuse_enter_window notes that the line that was used last was used in window number
 * WINDOW, and, if it COUNTS, adds it to the window's lines unless the window has used it before.
 * reuse_count_distance counts a reference that has DISTANCE; `references` stays. */
uint64_t reuse_use_line(struct reuse *reuse, uint64_t line);
void reuse_enter_window(struct reuse *reuse, uint64_t window, bool counts);
void reuse_count_distance(struct reuse *reuse, uint64_t distance);

/* Returns how many references a fully associative cache of LINES lines has missed. */
uint64_t reuse_misses(const struct reuse *reuse, uint64_t lines);

#endif
