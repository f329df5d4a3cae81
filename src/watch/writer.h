/* writer.h: modules of the program, and the instructions in them that write what is watched. */
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
    const struct watch_module *module; /* NULL: none is known; of the process that was first */
    uint64_t pc;                       /* as linked */
    uint32_t watched;                  /* number of the object */
    const char *function;              /* "" each where it is not known */
    const char *source;                /* path of its file, as the compiler was given it */
    const char *file;                  /* the same without directories */
    unsigned line;
    const char *place; /* "table.c:88" */
    const char *instruction;
    uint64_t address; /* of the instruction, as linked */
    uint64_t moment;  /* where a run that is not watched comes by at the hit's ticks */
    const char *text; /* what a hit's text says of it, and its JSON; set by hit.c */
    const char *json;
    uint64_t hits, changes;
    uint64_t undecided; /* of the hits: those that another call may have made */
    bool is_allowed;    /* to write what is guarded */
};

/* What may write what is guarded: a function, source file or module. */
struct allowed_name {
    const char *name;
    bool has_written; /* anything that is watched */
};

/* A call that is told of besides. */
struct call_place {
    uint64_t pc; /* where it runs; 0: none */
    uint32_t process;
    const char *function, *place; /* "" each where it is not known */
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
    struct call_place places[PLACES_KEPT]; /* by pc; the last of each */
};

/* Notes a module that has begun; all of RECORD is copied. */
const struct watch_module *writers_module(struct writers *writers,
                                          const struct quipu_module_record *record);

/* The module of PROCESS that PC, where it runs, lies in; NULL: none is known. */
const struct watch_module *writers_find_module(const struct writers *writers, uint32_t process,
                                               uint64_t pc);

/* The writer of HIT, of the object WATCHED. */
struct writer *writers_find(struct writers *writers, const struct quipu_hit *hit, uint32_t watched);

/* Likewise of the call that returns to PC, or near, in PROCESS. */
struct writer *writers_find_call(struct writers *writers, uint32_t process, uint64_t pc,
                                 uint32_t watched);

/* The place of the call in PROCESS that returns to PC; until the next one is asked for. */
const struct call_place *writers_place(struct writers *writers, uint32_t process, uint64_t pc);

void writers_release(struct writers *writers);

#endif
