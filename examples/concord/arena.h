/* arena.h: memory that is released whole.  One arena serves one thread at a time. */
#ifndef CONCORD_ARENA_H
#define CONCORD_ARENA_H

#include <stddef.h>

struct arena_chunk;

/* All zero is an empty arena. */
struct arena {
    struct arena_chunk *chunks; /* newest first; owned */
    char *next, *end;           /* what is left of the newest chunk */
};

/* Returns SIZE bytes, zeroed and aligned for any type.  Out of memory ends the program. */
void *arena_alloc(struct arena *arena, size_t size);

/* Releases everything.  The arena is empty and may be used again. */
void arena_release(struct arena *arena);

#endif
