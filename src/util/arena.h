/* arena.h: memory that is released whole.
 *
 * The shim has two arenas, one for the assembly unit and one for the function
 * at hand; readers have one for a profile.  Nothing in an arena is freed alone.
 * Out of memory ends the program with a message: no caller checks for NULL. */
#ifndef QUIPU_UTIL_ARENA_H
#define QUIPU_UTIL_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;

/* All zero is an empty arena. */
struct arena {
    struct arena_chunk *chunks; /* newest first; owned */
    char *next;                 /* first free byte of the newest chunk */
    char *end;
};

/* Returns SIZE zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);

/* Returns room for COUNT items of SIZE bytes, the first KEPT of them copied from OLD. */
void *arena_grow(struct arena *arena, const void *old, size_t kept, size_t count, size_t size);

/* Copies of text, NUL-terminated. */
char *arena_copy(struct arena *arena, const char *text, size_t length);
char *arena_print(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Releases everything.  The arena is empty and may be used again. */
void arena_release(struct arena *arena);

#define ARENA_NEW(arena, type)          ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc((arena), sizeof(type) * (count)))

#endif
