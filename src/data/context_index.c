/* context_index.c: contexts by parent, site and function; see context_index.h. */
#include "data/context_index.h"

/* Returns a hash of three numbers of which all bits count: products with odd constants, whose upper
 * half depends on all of their bits. */
static uint32_t hash_path(uint32_t parent, uint32_t site, uint32_t function) {
    uint64_t hash = ((uint64_t)parent << 32 | site) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 32 ^ function) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(hash >> 32);
}

static void double_capacity(struct context_index *index, struct arena *arena) {
    struct context_index old = *index;
    index->capacity = old.capacity ? 2 * old.capacity : 1024;
    index->entries = ARENA_ARRAY(arena, struct context_index_entry, index->capacity);
    for (size_t i = 0; i < old.capacity; i++) {
        if (!old.entries[i].number)
            continue;
        size_t at = old.entries[i].hash & (index->capacity - 1);
        while (index->entries[at].number)
            at = (at + 1) & (index->capacity - 1);
        index->entries[at] = old.entries[i];
    }
}

static bool is_path(const struct contexts *contexts, uint32_t number, uint32_t parent,
                    uint32_t site, uint32_t function) {
    const struct context *context = vector_at(&contexts->nodes, number);
    return context->parent == parent && context->site == site && context->function == function;
}

static uint32_t find_or_add(struct context_index *index, struct contexts *contexts, uint32_t parent,
                            uint32_t site, uint32_t function) {
    if (2 * (index->count + 1) > index->capacity)
        double_capacity(index, &contexts->arena);
    uint32_t hash = hash_path(parent, site, function);
    size_t at = hash & (index->capacity - 1);
    for (; index->entries[at].number; at = (at + 1) & (index->capacity - 1))
        if (index->entries[at].hash == hash &&
            is_path(contexts, index->entries[at].number, parent, site, function))
            return index->entries[at].number;
    uint32_t number = (uint32_t)contexts->nodes.count;
    vector_push(&contexts->arena, &contexts->nodes,
                ((struct context){.parent = parent, .site = site, .function = function}));
    index->entries[at] = (struct context_index_entry){number, hash};
    index->count++;
    return number;
}

uint32_t context_index_number(struct context_index *index, struct contexts *contexts,
                              uint32_t parent, uint32_t site, uint32_t function) {
    uint32_t next = index->last + 1;
    bool follows = next < contexts->nodes.count && is_path(contexts, next, parent, site, function);
    index->last = follows ? next : find_or_add(index, contexts, parent, site, function);
    return index->last;
}
