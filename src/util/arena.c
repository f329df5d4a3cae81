/* arena.c: memory that is released all at once; see arena.h. */
#include "util/arena.h"

#include "util/diag.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_SIZE = 1 << 18,
    ALIGNMENT = 16
};

struct arena_chunk {
    _Alignas(ALIGNMENT) struct arena_chunk *older;
};

void *arena_alloc(struct arena *arena, size_t size) {
    if (size > SIZE_MAX / 2)
        die("a request for %zu bytes of memory is too large", size);
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if ((size_t)(arena->end - arena->next) < size) {
        size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        struct arena_chunk *chunk = calloc(1, sizeof *chunk + room);
        if (!chunk)
            die("out of memory: %zu bytes asked for", room);
        chunk->older = arena->chunks;
        arena->chunks = chunk;
        arena->next = (char *)(chunk + 1);
        arena->end = arena->next + room;
    }
    void *memory = arena->next;
    arena->next += size;
    return memory;
}

void *arena_grow(struct arena *arena, const void *old, size_t kept, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 2 / size)
        die("an array of %zu items of %zu bytes is too large", count, size);
    void *memory = arena_alloc(arena, count * size);
    if (kept)
        memcpy(memory, old, kept * size);
    return memory;
}

char *arena_copy(struct arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_print(struct arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        die("cannot format '%s'", format);
    char *text = arena_alloc(arena, (size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void arena_release(struct arena *arena) {
    while (arena->chunks) {
        struct arena_chunk *older = arena->chunks->older;
        free(arena->chunks);
        arena->chunks = older;
    }
    arena->next = arena->end = NULL;
}

void arena_clear(struct arena *arena) {
    struct arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->older || (size_t)(arena->end - (char *)(chunk + 1)) > CHUNK_SIZE) {
        arena_release(arena);
        return;
    }
    char *first = (char *)(chunk + 1);
    memset(first, 0, (size_t)(arena->next - first));
    arena->next = first;
}
