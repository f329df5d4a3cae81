/* datafile.h: one data file: its modules, and where the slots of cells and calling contexts stand.
 *
 * The layout is laid down in format/data_file.h.  Of a file all is kept but cells and contexts,
 * which are most of it; they are read when they are wanted, a file after the other. */
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
    uint64_t load_bias;  /* where it ran, minus where it was linked */
    uint32_t slot_count; /* owned or not */
};

struct data_slot {
    uint32_t module; /* index into modules */
    uint32_t owner;
    uint32_t threads;
    uint32_t slot;   /* ordinal among the slots of the module */
    uint64_t offset; /* of its cells in the file: cell_count of the module */
};

/* A chunk of a thread's calling context tree; its nodes are not looked at yet. */
struct data_contexts {
    uint64_t thread;      /* number of the tree */
    uint64_t first_index; /* of its first node in the tree */
    uint32_t owner;       /* thread id */
    uint32_t count, capacity;
    uint32_t flags;         /* of the first chunk: QUIPU_CALL_TREE_... */
    uint64_t events_base;   /* of the first chunk: what the thread has executed */
    uint64_t events_offset; /* is the sum of it and of QUIPU_CALL_LANES cells there; 0: not told */
    uint64_t nodes_offset;  /* in the file: COUNT of them */
};

struct data_file {
    const char *path;
    const char *program;
    const char *command; /* arguments joined by blanks */
    uint32_t pid, parent_pid;
    uint64_t start_time; /* nanoseconds since 1970 */
    bool merged;
    bool incomplete; /* the runtime could not keep some counts */
    VECTOR(struct data_module) modules;
    VECTOR(struct data_slot) slots;
    VECTOR(struct data_contexts) contexts;
};

/* Reads what the data file at PATH tells, and checks every number of it.  Texts and arrays lie in
 * ARENA.  Returns NULL, or what is wrong; the path is set in any case. */
const char *data_file_read(struct arena *arena, const char *path, struct data_file *file);

/* Whether the process that wrote FILE may still write. */
bool data_file_is_running(const struct data_file *file);

/* Whether the file at PATH begins as a data file does. */
bool data_file_here(const char *path);

/* A data file whose bytes are read. */
struct data_reader {
    int fd;
    bool running;    /* the file changes: each of its numbers is read at once */
    void *mapping;   /* of what was asked for last, if so */
    size_t mapped;   /* bytes of it */
    uint8_t *buffer; /* else; owned */
    size_t capacity;
    uint64_t data, hole; /* of the file, from the one up to the other may not be zero */
};

/* Opens FILE.  Returns NULL, or what is wrong. */
const char *data_reader_open(struct data_reader *reader, const struct data_file *file);
void data_reader_close(struct data_reader *reader);

/* SIZE bytes at OFFSET, which is a multiple of 8, until more is read.  NULL with what is wrong in
 * *CAUSE where they are not there. */
const void *data_reader_bytes(struct data_reader *reader, uint64_t offset, size_t size,
                              const char **cause);

/* Adds COUNT cells to SUMS.  SHARED: other threads add to SUMS, too. */
void add_cells(const uint64_t *cells, size_t count, uint64_t *sums, bool shared);

/* Adds the COUNT cells at OFFSET to SUMS, passing over holes of the file.  Returns NULL, or what is
 * wrong. */
const char *data_reader_add(struct data_reader *reader, uint64_t offset, uint64_t count,
                            uint64_t *sums, bool shared);

#endif
