/* processors.c: coherent caches of several processors; see processors.h.
 *
 * The directory knows of each line which processors may have it, and which have lost it because
 * another one has written it. Whether a processor still has a line, its caches tell. So the
 * directory is only asked once for a line of a reference, and caches only where they lose a line.
 *
 * Whether a line is exclusive or modified changes no miss, so the directory does not keep it apart.
 *
 * Not perfect: fetched instructions take no part. Of a line that one processor has changed, another
 * one's miss goes to the last level as any other. */
#include "cache/processors.h"

#include "util/diag.h"

#include <stdlib.h>

/* Invariant: a processor that has the line in a cache of data is in `holders`. */
struct directory_entry {
    uint64_t line;    /* 1 + address / size of lines; 0: the entry is free */
    uint64_t holders; /* bits of processors that may have it */
    uint64_t robbed; /* ... from whose caches another one's write has removed it, since they used it
                      */
};

struct processors {
    struct hierarchy *list;
    unsigned count;
    struct directory_entry *entries; /* a hash table, at most half full */
    size_t used, room;               /* room: a power of two */
};

void check_coherence(const struct hierarchy_shape *shape) {
    if (shape->second.size && shape->second.line != shape->data.line)
        die("'--processors': the lines of --l1d and --l2 must have one size");
}

static struct directory_entry *make_entries(size_t room) {
    struct directory_entry *entries = calloc(room, sizeof *entries);
    if (!entries)
        die("out of memory: no room for the directory of %zu lines", room);
    return entries;
}

struct processors *processors_begin(const struct hierarchy_shape *shape, unsigned count) {
    enum {
        FIRST_ROOM = 1 << 12
    };
    struct processors *processors = calloc(1, sizeof *processors);
    struct hierarchy *list = calloc(count, sizeof *list);
    if (!processors || !list)
        die("out of memory: no room for %u processors", count);
    struct hierarchy_shape own = *shape;
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            own.last.size = 0;
        hierarchy_begin(&list[i], &own);
        if (i > 0)
            list[i].last = list[0].last; /* its lines are shared */
        list[i].sharing = list;
        list[i].sharing_count = count;
    }
    *processors = (struct processors){
        .list = list, .count = count, .entries = make_entries(FIRST_ROOM), .room = FIRST_ROOM};
    return processors;
}

void processors_end(struct processors *processors) {
    for (unsigned i = 0; i < processors->count; i++) {
        if (i > 0)
            processors->list[i].last = (struct cache){0};
        hierarchy_release(&processors->list[i]);
    }
    free(processors->list);
    free(processors->entries);
    free(processors);
}

/* ---- the directory ---- */

/* Returns the entry of LINE, or the free one for it. */
static struct directory_entry *find_entry(struct directory_entry *entries, size_t room,
                                          uint64_t line) {
    size_t at = (line * 0x9e3779b97f4a7c15) >> 20 & (room - 1);
    while (entries[at].line && entries[at].line != line + 1)
        at = (at + 1) & (room - 1);
    return &entries[at];
}

static void grow_directory(struct processors *processors) {
    size_t room = 2 * processors->room;
    struct directory_entry *entries = make_entries(room);
    for (size_t i = 0; i < processors->room; i++)
        if (processors->entries[i].line)
            *find_entry(entries, room, processors->entries[i].line - 1) = processors->entries[i];
    free(processors->entries);
    processors->entries = entries;
    processors->room = room;
}

static struct directory_entry *entry_of(struct processors *processors, uint64_t line) {
    struct directory_entry *entry = find_entry(processors->entries, processors->room, line);
    if (entry->line)
        return entry;
    if (2 * ++processors->used > processors->room) {
        grow_directory(processors);
        entry = find_entry(processors->entries, processors->room, line);
    }
    entry->line = line + 1;
    return entry;
}

/* Removes LINE from the caches of processor NUMBER. Returns whether it was in one. */
static bool rob(struct processors *processors, unsigned number, uint64_t line) {
    struct hierarchy *caches = &processors->list[number];
    bool had = cache_remove(&caches->data, line);
    if (caches->second.lines)
        had |= cache_remove(&caches->second, line);
    return had;
}

/* Processor NUMBER uses LINE. Returns whether it misses it because another one has written it. Adds
 * to INVALIDATIONS the processors that lose it. */
static bool use_line(struct processors *processors, unsigned number, uint64_t line, bool writes,
                     uint64_t *invalidations) {
    struct directory_entry *entry = entry_of(processors, line);
    uint64_t own = UINT64_C(1) << number;
    bool was_robbed = entry->robbed & own;
    uint64_t others = writes ? entry->holders & ~own : 0;
    entry->robbed &= ~own;
    entry->holders |= own;
    entry->holders &= ~others;
    for (; others; others &= others - 1) {
        unsigned other = (unsigned)__builtin_ctzll(others);
        if (!rob(processors, other, line))
            continue;
        entry->robbed |= UINT64_C(1) << other;
        ++*invalidations;
    }
    return was_robbed;
}

void processors_use(struct processors *processors, const struct memory_reference *reference,
                    struct cache_counts *counts) {
    unsigned number = reference->thread % processors->count;
    struct hierarchy *caches = &processors->list[number];
    uint8_t kind = reference->kind;
    if (kind != REFERENCE_FETCH) {
        bool writes = kind == REFERENCE_WRITE || reference->modifies;
        uint64_t line = reference->address >> caches->data.line_bits;
        uint64_t last = (reference->address + reference->size - 1) >> caches->data.line_bits;
        bool was_robbed = false;
        do
            was_robbed |= use_line(processors, number, line, writes, &counts->invalidations);
        while (line++ < last);
        counts->coherence_misses[kind] += was_robbed;
    }
    count_reference(counts, kind, hierarchy_use(caches, reference));
}
