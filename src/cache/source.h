/* source.h: references to memory, one after the other, from a trace or from a file of valgrind's
 * lackey.
 *
 * A source tells of each reference which place of the program it counts for. What a place is, is
 * chosen when the source is opened. A simulator needs to know no more than this header.
 *
 * The rules are cachegrind's, so that misses can be compared with it:
 *   - An instruction's fetch comes in front of its data.
 *   - An instruction that reads and then writes the same bytes makes one reference, a read. */
#ifndef QUIPU_CACHE_SOURCE_H
#define QUIPU_CACHE_SOURCE_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reference_kind {
    REFERENCE_FETCH,
    REFERENCE_READ,
    REFERENCE_WRITE,
    REFERENCE_KINDS,
    REFERENCE_TICKET = REFERENCE_KINDS, /* none: the address is a ticket (trace/order.h) */
};

struct memory_reference {
    uint64_t address;
    uint32_t size; /* bytes, from 1 to REFERENCE_SIZE_MAX; it does not go beyond the last address */
    uint32_t place;  /* index into the source's places */
    uint32_t thread; /* index into the trace's threads; caches of several processors need it */
    uint8_t kind;    /* enum reference_kind */
    bool modifies;   /* a read, and then a write of the same bytes */
    bool begins;     /* of a part: the first one of an instruction */
};

enum {
    REFERENCE_SIZE_MAX = 4096,
    REFERENCES_MOST = 4096, /* a good number to ask for at once: they stay in the first cache */
};

enum place_kind {
    PLACE_PROGRAM, /* one place for all */
    PLACE_FUNCTION,
    PLACE_LINE,
    PLACE_THREAD,
    PLACE_OBJECT, /* of data: the object that is accessed; of instructions: their module's code */
};

enum object_kind {
    OBJECT_NONE, /* the place is none */
    OBJECT_CODE,
    OBJECT_VARIABLE,
    OBJECT_THREAD_LOCAL,
    OBJECT_SECTION, /* what no variable of the section contains */
    OBJECT_HEAP,    /* blocks, by the call that allocates them */
    OBJECT_MAPPING, /* pages, by the call that maps them */
    OBJECT_STACK,   /* frames of a function */
    OBJECT_CONTROL_BLOCK,
    OBJECT_OTHER,   /* not known */
    OBJECT_PENDING, /* of a part: what is allocated there is known in front of it (objects.h) */
};

/* What is not known, or of another kind, is NULL or 0. */
struct reference_place {
    const char *function; /* the symbol */
    const char *module;   /* path of the binary */
    const char *file;     /* normalized */
    uint32_t line;
    uint32_t process, thread; /* numbers of the kernel's */
    uint8_t object;           /* enum object_kind; file, line and function are the call's */
    const char *name;         /* of a variable or section */
    uint64_t bytes;           /* of a variable or section; or of all blocks together */
    uint64_t blocks;          /* that the call has allocated */
    uint64_t identity; /* tells apart functions or threads of a trace whose names are the same */
};

struct buffer;

struct reference_source {
    const char *path; /* for messages */
    struct arena arena;
    VECTOR(struct reference_place) places; /* in the order of their first references */
    uint64_t unsure; /* accesses that were left out: their addresses or elements are not known */
    size_t threads;  /* of a trace; 0: the file does not name them */
    /* May be set in front of the first call of `next`: the threads of a trace come in one order
     * (trace/order.h), and addresses of different processes differ: their highest bits tell the
     * process. Otherwise threads come one after the other. */
    bool global;
    bool tells_tickets; /* of a part: tickets are among the references, and addresses of processes
                           differ as with `global` */
    bool scheduled;     /* the one order is that of a schedule */
    const char *allocators; /* by object: patterns of functions that allocate for their callers,
                               with commas between them; NULL: none. Set behind the opening */
    bool shortens; /* a reference longer than the smallest line loses the rest, as in cachegrind */

    /* Writes the next references to REFERENCES, at most MOST. Returns their number; 0: there are no
     * more. Bad input ends the program with an error. */
    size_t (*next)(struct reference_source *source, struct memory_reference *references,
                   size_t most);
    void (*close)(struct reference_source *source);

    /* Of a trace; NULL: the source cannot be cut. From now on, `next` gives the references of part
     * NUMBER, from 0, of COUNT parts of thread number THREAD, and then returns 0. May be called
     * again for another one. Sets `fault` to NULL, and `thread_id`. */
    void (*begin_part)(struct reference_source *source, size_t thread, uint32_t number,
                       uint32_t count);
    VECTOR(uint32_t) touched; /* by object: places of the part, in the order of their begin */
    /* By object: appends what the part has done to its process's heap (doc/format.md). */
    void (*write_heap)(struct reference_source *source, struct buffer *out);
    const char *fault;               /* why the part ended before its records did, or NULL */
    uint32_t thread_id;              /* number of the part's thread in the system */
    uint32_t process, thread_number; /* numbers of its process, and of itself in that */
    uint64_t file_size;              /* of a trace: bytes; it tells apart traces of the same path */
};

/* Opens a trace (quipu trace). References of more than 64
 * bytes are cut at multiples of 64. If the file is no trace, the program ends with an error. */
struct reference_source *open_trace_source(const char *path, enum place_kind kind);

/* Opens what 'valgrind --tool=lackey --trace-mem=yes' wrote; "-": standard input. The only KIND is
 * PLACE_PROGRAM. */
struct reference_source *open_lackey_source(const char *path, enum place_kind kind);

/* Gives the instructions of SOURCE, a trace that nothing was read of yet, the addresses of the
 * binaries at PATHS (trace/layout.h). With no paths, does nothing. A binary that does not fit, and
 * a source of another kind, ends the program with an error. */
void lay_out_source(struct reference_source *source, const text_vector *paths);

/* Warns of references that SOURCE has left out, if there are any. */
void warn_of_unsure(const struct reference_source *source);

/* Warns that the references of thread ID of SOURCE are not complete, because of FAULT. */
void warn_of_source_fault(const struct reference_source *source, uint32_t id, const char *fault);

/* A kind of file, as in --from=NAME. */
struct source_format {
    const char *name;
    struct reference_source *(*open)(const char *path, enum place_kind kind);
    bool has_places; /* otherwise PLACE_PROGRAM is the only kind */
};

/* Returns the format with that NAME. An unknown name ends the program with an error. */
const struct source_format *choose_source_format(const char *name);

/* Opens the file that the WORDS, COUNT of them, name. Only lackey's may be missing: it is standard
 * input then. COMMAND is named in messages. */
struct reference_source *open_source(const struct source_format *format, char **words, int count,
                                     enum place_kind kind, const char *command);

#endif
