/* cache_part.h: simulates caches on one part of a trace, so that the parts together give exactly
 * what one run over the whole trace gives.
 *
 * What was in the caches in front of the part is not known. Most references do not depend on it: a
 * line that the part has used is there if fewer other lines than ways were used since, and a line
 * that it has not used is missed once its set has been filled by the part. The others are open.
 * They are few: at most as many as a cache has lines, and some more at the next level for each. A
 * part keeps them in their order, as events, with what their outcome depends on; and what the
 * caches have at its end. Whoever knows the contents in front of the part then finds all outcomes,
 * one after the other, and so the contents behind it.
 *
 * Where levels depend on each other, a part keeps references instead (kept.h); for several
 * processors it keeps them with the order of threads (order_part.h).
 * The same idea, for stack distances: Niu, Dinan, Lu and Sadayappan, "PARDA: a fast parallel reuse
 * distance analysis algorithm", IPDPS 2012. */
#ifndef QUIPU_CACHE_CACHE_PART_H
#define QUIPU_CACHE_CACHE_PART_H

#include "cache/cache.h"
#include "cache/part_file.h"

/* Appends to CONTENTS, of a part file, what the caches of SHAPE do with PART of SOURCE, a trace
 * whose places are of KIND. PROCESSORS: so many have such caches, and threads are in one order; 0:
 * one, and they come one after the other. */
void simulate_cache_part(struct buffer *contents, struct reference_source *source,
                         const struct hierarchy_shape *shape, unsigned processors,
                         enum place_kind kind, struct part_choice part);

struct cache_merge {
    struct hierarchy_shape shape;
    unsigned processors;
    enum place_kind kind;
    struct reference_source source; /* path, places and `unsure` of all parts */
    struct cache_counts *counts;    /* of the places; owned */
};

/* Adds up all parts of a trace, in their order. If FILES do not fit together, or one is corrupt,
 * the program ends with an error. Warns of threads that could not be followed. FILES must stay
 * until cache_merge_release. */
void merge_cache_parts(struct cache_merge *merge, const part_files *files);
void cache_merge_release(struct cache_merge *merge);

#endif
