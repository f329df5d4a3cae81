/* vector.h: arrays that grow in an arena.
 *
 *     VECTOR(struct edge) edges = {0};
 *     vector_push(arena, &edges, ((struct edge){source, target}));
 *     for (size_t i = 0; i < edges.count; i++) use(&edges.data[i]);
 *
 * An array that grows is copied. So a pointer to an item is valid until the next push. */
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

/* Returns the address of an item. The test of `data` is for static analysers: an index in range
 * implies it. */
#define vector_at(v, index) (CHECK((v)->data && (index) < (v)->count), &(v)->data[index])

/* Makes room for one more item. */
#define vector_reserve(arena, v)                                                                   \
    ((v)->count < (v)->capacity                                                                    \
         ? (void)0                                                                                 \
         : (void)((v)->capacity = (v)->capacity ? 2 * (v)->capacity : 8,                           \
                  (v)->data = arena_grow((arena), (v)->data, (v)->count, (v)->capacity,            \
                                         sizeof *(v)->data)))

#define vector_push(arena, v, item)                                                                \
    (vector_reserve((arena), (v)), (void)((v)->data[(v)->count++] = (item)))

typedef VECTOR(const char *) text_vector;

#endif
