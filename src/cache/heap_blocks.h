/* heap_blocks.h: the blocks of a process's heap, and its mappings, by address.
 *
 * Source: Seidel and Aragon, "Randomized search trees", Algorithmica 16 (1996), 4: a tree that is
 * sorted by address, and a heap by random priorities. So its depth is logarithmic whatever the
 * order of the blocks. */
#ifndef QUIPU_CACHE_HEAP_BLOCKS_H
#define QUIPU_CACHE_HEAP_BLOCKS_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stdint.h>

struct heap_block {
    uint64_t begin, end; /* addresses; end is behind the last byte */
    uint32_t place;      /* of the source's */
    bool maps;           /* it is a mapping: a part of it may end */
    uint32_t priority;
    uint32_t lower, higher; /* 1 + index of the root of the blocks below and above; 0: none */
};

/* Zeros are empty. Invariant: no two blocks overlap. */
struct heap_blocks {
    VECTOR(struct heap_block) blocks;
    VECTOR(uint32_t) unused; /* 1 + index of those that are not in the tree */
    uint32_t root;
    uint64_t random; /* state of the generator of priorities */
};

/* Adds BLOCK, of which begin, end, place and maps are set. What overlaps it has ended. */
void add_heap_block(struct arena *arena, struct heap_blocks *heap, struct heap_block block);

/* The block that begins at ADDRESS ends, if it is there. */
void end_heap_block(struct arena *arena, struct heap_blocks *heap, uint64_t address);

/* The blocks in [BEGIN, END) end; mappings keep what is outside. */
void end_heap_range(struct arena *arena, struct heap_blocks *heap, uint64_t begin, uint64_t end);

/* Returns the last block that begins at ADDRESS or below, or NULL. Valid as below. */
const struct heap_block *find_block_below(const struct heap_blocks *heap, uint64_t address);

/* Calls VISIT for each block, by falling addresses, with CONTEXT. */
void visit_heap_blocks(const struct heap_blocks *heap,
                       void (*visit)(void *context, const struct heap_block *block), void *context);

/* Returns the block that contains ADDRESS, or NULL. It is valid until the next change. */
const struct heap_block *find_heap_block(const struct heap_blocks *heap, uint64_t address);

#endif
