/* datafile.h: one data file as it was mapped: its modules and the slots of cells in it.
 *
 * The layout is laid down in format.h.  The cells stay in the mapping: a running program changes
 * them while they are read. */
#ifndef QUIPU_DATA_DATAFILE_H
#define QUIPU_DATA_DATAFILE_H

#include "data/format.h"
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
    uint32_t slot;                  /* ordinal among the slots of the module */
    const volatile uint64_t *cells; /* cell_count of the module */
};

/* A chunk of a thread's calling context tree; its nodes are not looked at yet. */
struct data_contexts {
    uint64_t thread;      /* number of the tree */
    uint64_t first_index; /* of its first node in the tree */
    uint32_t owner;       /* thread id */
    uint32_t count, capacity;
    uint32_t flags;       /* of the first chunk: QUIPU_CONTEXTS_... */
    uint64_t events_base; /* of the first chunk: what the thread has executed */
    const volatile uint64_t
        *events; /* is the sum of it and of QUIPU_CALL_LANES cells; NULL: not told */
    const struct quipu_context *nodes; /* in the mapping: COUNT of them */
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
    const uint8_t *bytes; /* the mapping; owned until data_file_close */
    size_t size;          /* bytes mapped */
};

/* Maps the data file at PATH and checks every number in it.  Texts and arrays lie in ARENA.
 * Returns NULL, or what is wrong; then nothing stays mapped. */
const char *data_file_open(struct arena *arena, const char *path, struct data_file *file);

/* What data_file_open returns where the process may have no more mappings: the one cause that does
 * not lie in the file. */
extern const char data_file_no_room[];

void data_file_close(struct data_file *file);

/* Whether the file at PATH begins as a data file does. */
bool data_file_here(const char *path);

#endif
