/* vector.h: arrays that grow in an arena.
 *
 *     VECTOR(struct edge) edges = {0};
 *     vector_push(arena, &edges, ((struct edge){source, target}));
 *     for (size_t i = 0; i < edges.count; i++) use(&edges.data[i]);
 *
 * Growing copies; a pointer to an item is valid until the next push. */
#ifndef QUIPU_UTIL_VECTOR_H
#define QUIPU_UTIL_VECTOR_H

#include "util/arena.h"
#include "util/diag.h"

#define VECTOR(type)                                                                               \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

/* For analysers of the code: where an index is in range there is data. */
#define vector_at(v, index) (CHECK((v)->data && (index) < (v)->count), &(v)->data[index])

/* Makes room for one item more. */
#define vector_reserve(arena, v)                                                                   \
    ((v)->count < (v)->capacity                                                                    \
         ? (void)0                                                                                 \
         : (void)((v)->capacity = (v)->capacity ? 2 * (v)->capacity : 8,                           \
                  (v)->data = arena_grow((arena), (v)->data, (v)->count, (v)->capacity,            \
                                         sizeof *(v)->data)))

#define vector_push(arena, v, item)                                                                \
    (vector_reserve((arena), (v)), (void)((v)->data[(v)->count++] = (item)))

#endif
