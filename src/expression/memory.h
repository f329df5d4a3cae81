/* memory.h: the memory over which expressions are evaluated: of a process, a checkpoint, a core
 * file or a recording. */
#ifndef QUIPU_EXPRESSION_MEMORY_H
#define QUIPU_EXPRESSION_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of the struct for each kind of memory. */
struct memory {
    /* Reads SIZE bytes at ADDRESS. Returns false if not all of them can be read. */
    bool (*read)(const struct memory *memory, uint64_t address, void *bytes, size_t size);
    uint64_t bias; /* load address of the program's binary minus its address as linked */
};

/* The bytes of a variable. */
struct image {
    uint64_t address, size;
    const uint8_t *bytes;
};

/* A few variables whose bytes replace those of another memory. */
struct image_memory {
    struct memory memory;
    const struct image *images; /* borrowed, as `behind` is */
    size_t count;
    const struct memory *behind; /* the other memory; NULL: none */
};

struct image_memory image_memory(const struct image *images, size_t count, uint64_t bias,
                                 const struct memory *behind);

#endif
