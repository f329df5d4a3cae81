/* image.h: what a binary's headers tell of the addresses in its code. */
#ifndef QUIPU_SYMBOLS_IMAGE_H
#define QUIPU_SYMBOLS_IMAGE_H

#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct binary;

struct image {
    bool fixed;           /* it is loaded where it was linked; its code may contain addresses */
    uint64_t begin, end;  /* of the memory that its segments take, as linked */
    uint64_t thread_size; /* bytes of thread-local variables of a thread; 0: it has none */
    const char *soname;   /* the name that the loader knows it by; NULL: it has none */
};

/* Reads the headers of BINARY. What they do not have is 0. The text is in ARENA. */
struct image read_image(struct arena *arena, const struct binary *binary);

/* What a file is called, but by its path. */
struct file_names {
    const char *soname;   /* NULL: it has none */
    const char *build_id; /* in digits; NULL: it has none */
};

/* Reads them from the file FD. Returns false if it is no ELF file. The texts are in ARENA. */
bool read_file_names(struct arena *arena, int fd, struct file_names *names);

#endif
