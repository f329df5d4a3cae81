/* writer.h: modules of the program, and their instructions that write to watched objects. */
#ifndef QUIPU_WATCH_WRITER_H
#define QUIPU_WATCH_WRITER_H

#include "format/watch.h"
#include "symbols/binary.h"
#include "watch/library.h"

/* A module of a process. */
struct watch_module {
    uint32_t process;
    uint32_t number; /* in the watch file; 0: none */
    uint64_t bias, begin, end;
    const char *path;
    struct binary *binary; /* NULL: it cannot be read */
};

/* An instruction, or a call, that writes one of the watched objects. */
struct writer {
    const struct watch_module *module; /* of the first process that ran it; NULL: unknown */
    uint64_t pc;                       /* as linked */
    uint32_t watched;                  /* number of the object */
    const char *function;              /* this and the next ones: "" if unknown */
    const char *source;                /* path of its file, as given to the compiler */
    const char *file;                  /* the same without directories */
    unsigned line;
    const char *place; /* "table.c:88" */
    const char *instruction;
    uint64_t address; /* of the instruction, as linked */
    uint64_t moment;  /* address that a run without watched memory passes at the hit's ticks */
    const char *text; /* the writer's part of a hit as text and as JSON; set by hit.c */
    const char *json;
    uint64_t hits, changes;
    uint64_t undecided; /* hits that may be another call's */
    bool is_allowed;    /* it may write guarded memory */
};

/* A function, source file or module that may write guarded memory. */
struct allowed_name {
    const char *name;
    bool has_written; /* to any watched object */
};

/* A call that is named in addition to a writer. */
struct call_place {
    uint64_t pc; /* run-time address; 0: none */
    uint32_t process;
    const char *function, *place; /* "" if unknown */
};

enum {
    PLACES_KEPT = 64
};

struct writers {
    struct arena arena;
    VECTOR(struct watch_module *) modules;
    VECTOR(struct writer *) all;
    struct writer **table;             /* by module, pc and object */
    size_t capacity;                   /* of the table: a power of 2 */
    struct binary *program;            /* not owned */
    const struct libraries *libraries; /* likewise */
    VECTOR(struct allowed_name) allowed;
    struct call_place places[PLACES_KEPT]; /* by a hash of pc; only the last one of each */
};

/* Enters a module that has started. Copies RECORD. */
const struct watch_module *writers_module(struct writers *writers,
                                          const struct quipu_module_record *record);

/* Returns the module of PROCESS that contains the run-time address PC, or NULL. */
const struct watch_module *writers_find_module(const struct writers *writers, uint32_t process,
                                               uint64_t pc);

/* Returns the writer of HIT, of object WATCHED. */
struct writer *writers_find(struct writers *writers, const struct quipu_hit *hit, uint32_t watched);

/* The same for the call in PROCESS that returns to PC or near it. */
struct writer *writers_find_call(struct writers *writers, uint32_t process, uint64_t pc,
                                 uint32_t watched);

/* Returns the writer that is the instruction at ADDRESS of the program itself, as linked, and ends
 * at PC; if IS_CALL, the call that returns to PC. ADDRESS and PC 0: it is not known. */
struct writer *writers_find_in_program(struct writers *writers, uint64_t address, uint64_t pc,
                                       bool is_call, uint32_t watched);

/* Returns the location of the call in PROCESS that returns to PC. It is valid until the next call
 * of this function. */
const struct call_place *writers_place(struct writers *writers, uint32_t process, uint64_t pc);

void writers_release(struct writers *writers);

#endif
