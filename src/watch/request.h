/* request.h: what is watched, by name. */
#ifndef QUIPU_WATCH_REQUEST_H
#define QUIPU_WATCH_REQUEST_H

#include "expression/expression.h"
#include "format/watch.h"
#include "watch/library.h"
#include "watch/shape.h"

/* The location of a local, in one of the functions that contain it. */
struct local_place {
    uint64_t function; /* its first byte, as linked */
    int64_t offset;    /* from the CFA */
};

struct watched {
    const char *text;     /* as the user wrote it */
    const char *base;     /* prefix of the names of its parts */
    struct object object; /* its node is NULL if an address was given */
    struct part whole;
    const struct library *library; /* the library whose names it uses */
    const struct binary *binary;   /* to which `address` or `places` are relative; NULL: absolute */
    uint64_t first;                /* index of the first element of a slice */
    uint64_t address; /* as linked, or absolute; not known if the path to the object has pointers */
    const struct variable *local;      /* the local that it is, or is in; NULL: none */
    VECTOR(struct local_place) places; /* of that local */
    bool is_thread_local;              /* if so, `offset` is from the thread pointer */
    int64_t offset;
    uint64_t size;     /* bytes */
    bool copies_moved; /* see move_copies */
    bool only_changes; /* the condition is that a byte has changed */
    bool has_condition;
    struct expression condition;
    bool reads_program;  /* the condition reads more than old and new */
    bool is_violation;   /* each write is a violation */
    bool is_guarded;     /* likewise, except for allowed writers */
    uint64_t undecided;  /* changes of guarded memory that may be due to one of several calls */
    uint64_t value_size; /* of old and new: size of the object, or of the element of an array or
                          * slice */
    /* Blocks of the heap: `address` is the offset of the first watched byte, `size` the most
     * bytes. */
    bool is_blocks;
    VECTOR(struct quipu_watch_range) ranges;
    const struct shape *words[9]; /* by their size: 2, 4, 8 */
};

/* Whether BINARY reports its writes. */
bool tells_of_writes(const struct binary *binary);

/* Whether it was built for another version of format/watch.h. */
bool is_of_other_version(const struct binary *binary);

/* Returns NULL, or why nothing can be watched in runs of the program: writes are reported neither
 * by it, nor by a shared object that is loaded with it or contains one of the COUNT objects
 * WATCHED. */
const char *check_watchable(struct libraries *libraries, const struct watched *watched,
                            size_t count);

/* Reads TEXT: an object, a slice, ADDRESS:LENGTH, or blocks (heap.h). Returns NULL, or an error
 * message, with its position in TEXT in WHERE. */
const char *read_watched(struct libraries *libraries, const char *text, struct watched *watched,
                         size_t *where);

/* Returns the number of inlined copies of the local's function in which it is not watched. */
unsigned count_unwatched(const struct watched *watched);

/* Adds the condition TEXT to those of WATCHED. It may use old, new and the variables of the
 * program, or of the shared object that contains the object. Result as above. */
const char *read_condition(struct arena *arena, const char *text, struct watched *watched,
                           size_t *where);

/* For a running program: makes the object's path and the condition use the program's copies of
 * variables. BIAS is the program's, LIBRARY_BIAS the shared object's. */
void move_copies(const struct libraries *libraries, struct watched *watched, uint64_t bias,
                 uint64_t library_bias);

/* Whether the condition of WATCHED is true for a hit that wrote its bytes [BEGIN, END): for any
 * element there. IS_FREED: it is in a freed block. If the condition reads PROCESS, that is stopped,
 * and has BIAS. */
bool is_wanted(const struct watched *watched, const struct known_bytes *old,
               const struct known_bytes *now, uint64_t begin, uint64_t end, bool is_freed,
               pid_t process, uint64_t bias);

/* Returns the request for it when its address is known, without ranges. PLACE is the number of a
 * local's place. */
struct quipu_watch_request request_for(const struct watched *watched, size_t place, uint32_t flags);

#endif
