/* context_index.h: finds contexts by parent, site and function: a hash table of their numbers.
 *
 * A run of many processes has millions of paths. So an entry has no key of its own, only a part of
 * its hash: a look-up reads one entry and, nearly always, one context. Processes of one program
 * have similar trees: the context that is wanted is often the one that follows the last one. */
#ifndef QUIPU_DATA_CONTEXT_INDEX_H
#define QUIPU_DATA_CONTEXT_INDEX_H

#include "data/calls.h"

struct context_index_entry {
    uint32_t number; /* of the context; 0, the root: the entry is free */
    uint32_t hash;
};

/* An index of zeros is empty. Invariant: capacity is a power of two or 0, and count is at most half
 * of it. */
struct context_index {
    struct context_index_entry *entries; /* in the arena of the contexts */
    size_t count;
    size_t capacity;
    uint32_t last; /* number of the context that was found or added last */
};

/* Returns the number of the context with that PARENT, SITE and FUNCTION. If CONTEXTS do not have
 * it, adds it to them, without counts, and to INDEX. */
uint32_t context_index_number(struct context_index *index, struct contexts *contexts,
                              uint32_t parent, uint32_t site, uint32_t function);

#endif
