/* datafile.h: one data file: its modules, and the positions of slots and calling contexts.
 *
 * format/data_file.h defines the layout. Everything in a file is kept except cells and contexts,
 * which are most of it. They are read when needed, one file after the other. */
#ifndef QUIPU_DATA_DATAFILE_H
#define QUIPU_DATA_DATAFILE_H

#include "format/data_file.h"
#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct data_module {
    const char *path;
    uint8_t build_id[QUIPU_BUILD_ID_MAX];
    uint32_t build_id_size;
    uint64_t cells_address; /* as linked */
    uint64_t cell_count;
    uint64_t load_bias;           /* load address minus link address, of its last load */
    VECTOR(uint64_t) load_biases; /* of all its loads, if it was at several addresses */
    uint32_t slot_count;          /* with or without owner */
};

struct data_slot {
    uint32_t module; /* index into modules */
    uint32_t owner;
    uint32_t threads;
    uint32_t slot;   /* number among the slots of the module */
    uint64_t offset; /* of its cells in the file; it has the module's cell_count */
};

/* A chunk of a thread's calling context tree. Its nodes are not read yet. */
struct data_contexts {
    uint64_t thread;      /* number of the tree */
    uint64_t first_index; /* of its first node in the tree */
    uint32_t owner;       /* thread id */
    uint32_t count, capacity;
    uint32_t flags; /* of the first chunk: QUIPU_CALL_TREE_... */
    /* of the first chunk: the thread has executed the sum of this ... */
    uint64_t events_base;
    /* ... and of QUIPU_CALL_LANES cells at this offset in the file; 0: unknown */
    uint64_t events_offset;
    uint64_t nodes_offset; /* in the file: offset of COUNT nodes */
};

struct data_file {
    const char *path;
    const char *program;
    const char *command; /* arguments joined by blanks */
    uint32_t pid, parent_pid;
    uint32_t rank;       /* in a run of MPI, plus 1; 0: none */
    uint64_t start_time; /* nanoseconds since 1970 */
    bool merged;
    bool mixed;         /* merged from runs of several programs, or it is not known */
    uint64_t processes; /* that it is of; 0: not known */
    bool incomplete;    /* the runtime could not keep some counts */
    VECTOR(struct data_module) modules;
    VECTOR(struct data_slot) slots;
    VECTOR(struct data_contexts) contexts;
};

/* Reads the data file at PATH, and checks every number in it. Texts and arrays are in ARENA.
 * Returns NULL, or an error message. Sets the path in any case. */
const char *data_file_read(struct arena *arena, const char *path, struct data_file *file);

/* Whether the process that wrote FILE may still write. */
bool data_file_is_running(const struct data_file *file);

/* Whether the file at PATH begins like a data file. */
bool data_file_here(const char *path);

/* Reads the bytes of a data file. */
struct data_reader {
    int fd;
    bool running;    /* the file changes: each number in it must be read by one access */
    void *mapping;   /* if so, of what was read last; otherwise NULL */
    size_t mapped;   /* its size */
    uint8_t *buffer; /* if not; owned */
    size_t capacity;
    uint64_t data, hole; /* bytes of the file in [data, hole) may not be zero */
};

/* Opens FILE. Returns NULL, or an error message. */
const char *data_reader_open(struct data_reader *reader, const struct data_file *file);
void data_reader_close(struct data_reader *reader);

/* Returns the SIZE bytes at OFFSET, a multiple of 8. They are valid until the next call. If they do
 * not exist, returns NULL and sets *CAUSE to an error message. */
const void *data_reader_bytes(struct data_reader *reader, uint64_t offset, size_t size,
                              const char **cause);

/* Adds COUNT cells to SUMS. SHARED: other threads add to SUMS, too. */
void add_cells(const uint64_t *cells, size_t count, uint64_t *sums, bool shared);

/* Adds the COUNT cells at OFFSET to SUMS, and skips holes of the file. Returns NULL, or an error
 * message. */
const char *data_reader_add(struct data_reader *reader, uint64_t offset, uint64_t count,
                            uint64_t *sums, bool shared);

#endif
