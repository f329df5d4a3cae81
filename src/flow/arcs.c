/* arcs.c: finds the arcs of flow equations by the nodes at their ends; see arcs.h. */
#include "flow/arcs.h"

static const struct arc_ends *ends_of(const void *arcs, size_t size, uint32_t index) {
    return (const struct arc_ends *)((const char *)arcs + size * index);
}

struct meeting_arcs find_meeting_arcs(struct arena *arena, const void *arcs, uint32_t count,
                                      size_t size, uint32_t nodes) {
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, nodes + 2);
    uint32_t *at = ARENA_ARRAY(arena, uint32_t, 2 * count + 1);
    uint32_t *next = first + 1; /* counts are stored one entry later: filling in `at` moves them
                                   to their entries */
    for (uint32_t i = 0; i < count; i++) {
        next[ends_of(arcs, size, i)->from + 1]++;
        next[ends_of(arcs, size, i)->to + 1]++;
    }
    for (uint32_t n = 1; n <= nodes; n++)
        next[n] += next[n - 1];
    for (uint32_t i = 0; i < count; i++) {
        at[next[ends_of(arcs, size, i)->from]++] = i;
        at[next[ends_of(arcs, size, i)->to]++] = i;
    }
    return (struct meeting_arcs){first, at};
}
