/* arena.h: memory that is allocated in pieces and released all at once.
 *
 * The shim has one arena for the assembly unit, and one for the current function. Readers have one
 * for a profile. No piece of an arena is freed alone. If memory runs out, the program ends with a
 * message, so callers do not test for NULL. */
#ifndef QUIPU_UTIL_ARENA_H
#define QUIPU_UTIL_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;

/* An arena of zeros is empty. */
struct arena {
    struct arena_chunk *chunks; /* newest first; owned */
    char *next;                 /* first free byte of the newest chunk */
    char *end;
};

/* Returns SIZE zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);

/* Returns memory for COUNT items of SIZE bytes. The first KEPT items are copied from OLD, the
 * others are zero. */
void *arena_grow(struct arena *arena, const void *old, size_t kept, size_t count, size_t size);

/* Return a NUL-terminated text: a copy of LENGTH bytes of TEXT, or FORMAT with its arguments. */
char *arena_copy(struct arena *arena, const char *text, size_t length);
char *arena_print(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Releases all memory. The arena is then empty and can be used again. */
void arena_release(struct arena *arena);

/* The same, but what one chunk has room for is used again, without asking for it anew. */
void arena_clear(struct arena *arena);

#define ARENA_NEW(arena, type)          ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc((arena), sizeof(type) * (count)))

#endif
