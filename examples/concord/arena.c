/* arena.c: memory that is released whole; see arena.h. */
#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_SIZE = 64 * 1024,
    ALIGNMENT = 16,
};

struct arena_chunk {
    struct arena_chunk *older;
    _Alignas(ALIGNMENT) char bytes[];
};

static void add_chunk(struct arena *arena, size_t size) {
    struct arena_chunk *chunk = malloc(sizeof *chunk + size);
    if (!chunk) {
        fputs("concord: out of memory\n", stderr);
        exit(1);
    }
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    arena->next = chunk->bytes;
    arena->end = chunk->bytes + size;
}

void *arena_alloc(struct arena *arena, size_t size) {
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if ((size_t)(arena->end - arena->next) < size)
        add_chunk(arena, size < CHUNK_SIZE ? CHUNK_SIZE : size);
    void *result = arena->next;
    arena->next += size;
    return memset(result, 0, size);
}

void arena_release(struct arena *arena) {
    while (arena->chunks) {
        struct arena_chunk *older = arena->chunks->older;
        free(arena->chunks);
        arena->chunks = older;
    }
    *arena = (struct arena){0};
}
