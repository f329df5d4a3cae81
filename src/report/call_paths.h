/* call_paths.h: paths of functions, for formats that have no call sites. */
#ifndef QUIPU_REPORT_CALL_PATHS_H
#define QUIPU_REPORT_CALL_PATHS_H

#include "data/calls.h"

/* A path of functions. Calls from several call sites of a function are one. */
struct call_path {
    uint32_t parent; /* index; 0: the root */
    uint32_t function;
    uint64_t count; /* instructions of the last function itself */
    uint64_t calls;
};

typedef VECTOR(struct call_path) call_path_vector;

/* Returns "prog, process 4711, thread 4712". Lives in ARENA. */
const char *context_root_name(struct arena *arena, const struct context_root *root);

/* Returns all paths of CONTEXTS. [0] is the root; parents precede their children. If the contexts
 * have a root for each thread, so have the paths: *ROOTS is set to the index of each, in their
 * order. ROOTS may be NULL. Lives in ARENA. */
call_path_vector find_call_paths(struct arena *arena, const struct contexts *contexts,
                                 uint32_t **roots);

#endif
