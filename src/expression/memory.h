/* memory.h: the memory that expressions are evaluated over: a process's, a checkpoint's, a core's,
 * a recording's. */
#ifndef QUIPU_EXPRESSION_MEMORY_H
#define QUIPU_EXPRESSION_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of what describes one kind of memory. */
struct memory {
    /* Reads SIZE bytes at ADDRESS.  Returns false where not all of them are there. */
    bool (*read)(const struct memory *memory, uint64_t address, void *bytes, size_t size);
    uint64_t bias; /* where the program's binary is, minus where it was linked */
};

/* Bytes of the variable at ADDRESS, as linked. */
struct image {
    uint64_t address, size;
    const uint8_t *bytes;
};

/* A few variables, in front of another memory. */
struct image_memory {
    struct memory memory;
    const struct image *images; /* borrowed, as what is behind is */
    size_t count;
    const struct memory *behind; /* NULL: nothing else can be read */
};

struct image_memory image_memory(const struct image *images, size_t count, uint64_t bias,
                                 const struct memory *behind);

#endif
