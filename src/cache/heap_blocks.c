/* heap_blocks.c: a treap of blocks; see heap_blocks.h. */
#include "cache/heap_blocks.h"

#include "util/random.h"

static struct heap_block *block_of(const struct heap_blocks *heap, uint32_t number) {
    return &heap->blocks.data[number - 1];
}

/* Cuts the tree ROOT into the blocks that begin below ADDRESS, and the others. */
static void split(const struct heap_blocks *heap, uint32_t root, uint64_t address, uint32_t *lower,
                  uint32_t *higher) {
    while (root) {
        struct heap_block *block = block_of(heap, root);
        if (block->begin < address) {
            *lower = root;
            lower = &block->higher;
            root = block->higher;
        } else {
            *higher = root;
            higher = &block->lower;
            root = block->lower;
        }
    }
    *lower = 0;
    *higher = 0;
}

/* Joins two trees into *ROOT. All of LOWER is in front of HIGHER. */
static void join(const struct heap_blocks *heap, uint32_t lower, uint32_t higher, uint32_t *root) {
    while (lower && higher) {
        struct heap_block *low = block_of(heap, lower), *high = block_of(heap, higher);
        if (low->priority > high->priority) {
            *root = lower;
            root = &low->higher;
            lower = low->higher;
        } else {
            *root = higher;
            root = &high->lower;
            higher = high->lower;
        }
    }
    *root = lower ? lower : higher;
}

/* Adds BLOCK, which overlaps none. */
static void insert(struct arena *arena, struct heap_blocks *heap, struct heap_block block) {
    uint32_t lower, higher, number;
    if (heap->unused.count) {
        number = heap->unused.data[--heap->unused.count];
    } else {
        vector_push(arena, &heap->blocks, block);
        number = (uint32_t)heap->blocks.count;
    }
    block.priority = next_random(&heap->random);
    block.lower = block.higher = 0;
    *block_of(heap, number) = block;
    split(heap, heap->root, block.begin, &lower, &higher);
    join(heap, lower, number, &lower);
    join(heap, lower, higher, &heap->root);
}

/* Removes the block that begins at ADDRESS. Returns false if there is none. */
static bool take_out(struct arena *arena, struct heap_blocks *heap, uint64_t address) {
    uint32_t *link = &heap->root;
    while (*link && block_of(heap, *link)->begin != address) {
        struct heap_block *block = block_of(heap, *link);
        link = address < block->begin ? &block->lower : &block->higher;
    }
    if (!*link)
        return false;
    uint32_t number = *link;
    vector_push(arena, &heap->unused, number);
    join(heap, block_of(heap, number)->lower, block_of(heap, number)->higher, link);
    return true;
}

/* Returns the last block that begins below END, or NULL. */
static const struct heap_block *last_below(const struct heap_blocks *heap, uint64_t end) {
    const struct heap_block *found = NULL;
    for (uint32_t number = heap->root; number;) {
        const struct heap_block *block = block_of(heap, number);
        if (block->begin < end)
            found = block;
        number = block->begin < end ? block->higher : block->lower;
    }
    return found;
}

const struct heap_block *find_block_below(const struct heap_blocks *heap, uint64_t address) {
    return address == UINT64_MAX ? NULL : last_below(heap, address + 1);
}

void visit_heap_blocks(const struct heap_blocks *heap,
                       void (*visit)(void *context, const struct heap_block *block),
                       void *context) {
    uint64_t end = UINT64_MAX;
    const struct heap_block *block;
    while ((block = last_below(heap, end))) {
        end = block->begin;
        visit(context, block);
    }
}

const struct heap_block *find_heap_block(const struct heap_blocks *heap, uint64_t address) {
    const struct heap_block *block = find_block_below(heap, address);
    return block && address < block->end ? block : NULL;
}

void end_heap_block(struct arena *arena, struct heap_blocks *heap, uint64_t address) {
    take_out(arena, heap, address);
}

void end_heap_range(struct arena *arena, struct heap_blocks *heap, uint64_t begin, uint64_t end) {
    const struct heap_block *found;
    while ((found = last_below(heap, end)) && found->end > begin) {
        struct heap_block below = *found, above = *found;
        take_out(arena, heap, below.begin);
        if (!below.maps)
            continue;
        below.end = begin;
        above.begin = end;
        if (below.begin < below.end)
            insert(arena, heap, below);
        if (above.begin < above.end)
            insert(arena, heap, above);
    }
}

void add_heap_block(struct arena *arena, struct heap_blocks *heap, struct heap_block block) {
    end_heap_range(arena, heap, block.begin, block.end);
    insert(arena, heap, block);
}
