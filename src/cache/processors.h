/* processors.h: the caches of several processors, which share the last level, and are coherent.
 *
 * The protocol is MESI: a line that a processor writes is in no other processor's caches any more.
 * It tells which misses would not be there without the other processors: coherence misses, by true
 * or false sharing. Source: Hennessy and Patterson, Computer Architecture, 6th edition, sections
 * 5.2 and 5.3. */
#ifndef QUIPU_CACHE_PROCESSORS_H
#define QUIPU_CACHE_PROCESSORS_H

#include "cache/cache.h"

enum {
    PROCESSORS_MOST = 64
};

struct processors; /* processors.c */

/* Ends the program with an error if caches of these shapes cannot be coherent. */
void check_coherence(const struct hierarchy_shape *shape);

/* Makes COUNT processors, from 1 to PROCESSORS_MOST, with empty caches. Thread number N of a trace
 * runs on processor N % COUNT. */
struct processors *processors_begin(const struct hierarchy_shape *shape, unsigned count);
void processors_end(struct processors *processors);

/* Uses the caches for REFERENCE, and adds it and its misses to COUNTS. */
void processors_use(struct processors *processors, const struct memory_reference *reference,
                    struct cache_counts *counts);

#endif
