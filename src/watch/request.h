/* request.h: what is to be watched, by name. */
#ifndef QUIPU_WATCH_REQUEST_H
#define QUIPU_WATCH_REQUEST_H

#include "expression/expression.h"
#include "format/watch.h"
#include "watch/library.h"
#include "watch/shape.h"

/* Where a local is, in one of the functions that have it. */
struct local_place {
    uint64_t function; /* its first byte, as linked */
    int64_t offset;    /* from the CFA */
};

struct watched {
    const char *text;     /* as the user wrote it */
    const char *base;     /* what names of its parts begin with */
    struct object object; /* its node is NULL where an address was given */
    struct part whole;
    const struct library *library; /* whose names it was read with */
    const struct binary *binary;   /* that `address`, or places, are of; NULL: it is absolute */
    uint64_t first;                /* index of the first element of a slice */
    uint64_t address; /* as linked, or absolute; not known where the object's way has pointers */
    const struct variable *local;      /* that it is, or is in; NULL: none */
    VECTOR(struct local_place) places; /* of that */
    bool is_thread_local;              /* then `offset` is from the thread pointer */
    int64_t offset;
    uint64_t size;     /* bytes */
    bool copies_moved; /* see move_copies */
    bool only_changes; /* the condition is that a byte is another than before */
    bool has_condition;
    struct expression condition;
    bool reads_program;  /* the condition does, beside old and new */
    bool is_violation;   /* that it is written */
    bool is_guarded;     /* likewise, but for writers that are allowed */
    uint64_t undecided;  /* changes of what is guarded that may be of one of several calls */
    uint64_t value_size; /* of old and new: the object, or the element of an array or slice */
    /* Blocks of the heap: `address` is the first of their bytes that is asked for, `size` how many
     * at most. */
    bool is_blocks;
    VECTOR(struct quipu_watch_range) ranges;
    const struct shape *words[9]; /* by their size: 2, 4, 8 */
};

/* Whether writes by BINARY are told. */
bool tells_of_writes(const struct binary *binary);

/* Whether it was built for another version of format/watch.h. */
bool is_of_other_version(const struct binary *binary);

/* Returns NULL, or why nothing can be watched in runs of the program: neither it nor a shared
 * object that is loaded with it, or that WATCHED, COUNT of them, are of, tells of writes. */
const char *check_watchable(struct libraries *libraries, const struct watched *watched,
                            size_t count);

/* Reads TEXT: an object, a slice, ADDRESS:LENGTH, or blocks, as heap.h tells.  Returns NULL, or
 * what is wrong, and in WHERE the place in TEXT. */
const char *read_watched(struct libraries *libraries, const char *text, struct watched *watched,
                         size_t *where);

/* In how many places the local's function is inlined where it is not watched. */
unsigned count_unwatched(const struct watched *watched);

/* Gives WATCHED the condition TEXT, beside those that it has, over old, new and the variables of
 * the program, or of the shared object that it is of.  Returns in the same way. */
const char *read_condition(struct arena *arena, const char *text, struct watched *watched,
                           size_t *where);

/* Has the object's way and the condition read what the program has copies of there, once it runs:
 * with BIAS, and the shared object with LIBRARY_BIAS. */
void move_copies(const struct libraries *libraries, struct watched *watched, uint64_t bias,
                 uint64_t library_bias);

/* Whether the condition of WATCHED is true of a hit that wrote [BEGIN, END) of it: of any of the
 * elements there.  IS_FREED: it is in a block that has been freed.  PROCESS waits where the
 * condition reads it, and runs with BIAS. */
bool is_wanted(const struct watched *watched, const struct told_bytes *old,
               const struct told_bytes *now, uint64_t begin, uint64_t end, bool is_freed,
               pid_t process, uint64_t bias);

/* What to ask for it, once its address is known; but for ranges.  Of a local in its place number
 * PLACE. */
struct quipu_watch_request request_for(const struct watched *watched, size_t place, uint32_t flags);

#endif
