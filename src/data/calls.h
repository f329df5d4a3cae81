/* calls.h: the calling context trees of a run (--quipu=calls), merged into one, or by thread. */
#ifndef QUIPU_DATA_CALLS_H
#define QUIPU_DATA_CALLS_H

#include "data/places.h"
#include "data/profile.h"

/* A path of calls from the root: its last call, and the rest of the path. */
struct context {
    uint32_t parent;    /* index; 0: the root, which is not a call */
    uint32_t site;      /* number in places.sites */
    uint32_t function;  /* number in places.functions: the called function */
    uint64_t calls;     /* 0: a forked child got the path from its parent process */
    uint64_t inclusive; /* instructions of it and of all that it called; recursion counts once */
    uint64_t exclusive; /* of these, its own */
};

/* The tree of one thread, if the trees are not merged. */
struct context_root {
    const struct process *process;
    uint32_t owner; /* thread id */
    uint32_t node;  /* index of its root, whose parent is 0; it is not a call either */
};

struct contexts {
    struct arena arena;
    struct places places;
    VECTOR(struct context) nodes;      /* [0] is the root; parents precede their children */
    uint64_t executed;                 /* instructions of all */
    uint32_t trees;                    /* threads whose trees these are */
    VECTOR(struct context_root) roots; /* of the trees, by process; none if they are merged */
};

/* Whether any selected process has calling contexts. */
bool contexts_here(const struct profile *profile, struct selection selection);

/* Reads the trees of all selected threads into CONTEXTS: merged into one or, if BY_THREAD, each
 * with a root of its own. Activations that have not ended count up to now. Ends the program with an
 * error if a tree is corrupt. */
void contexts_read(struct profile *profile, struct selection selection, bool by_thread,
                   struct contexts *contexts);

void contexts_release(struct contexts *contexts);

/* The same for a command that needs them. If there are none, ends the program with an error that
 * says how to get them. */
void contexts_need(struct profile *profile, struct selection selection, bool by_thread,
                   struct contexts *contexts);

/* Returns how many nodes the trees of PROCESS have, without roots. */
uint64_t contexts_count(const struct process *process);

/* All calls of one function from one site. */
struct call {
    uint32_t caller; /* number of the function; 0: unknown */
    uint32_t site, callee;
    uint64_t calls;
    uint64_t inclusive; /* of the outermost of these calls on each path */
    /* of those that are in no other call of the callee; the sum over all calls of a function is the
     * function's inclusive count */
    uint64_t outermost;
};

typedef VECTOR(struct call) call_vector;

enum caller_kind {
    /* the function that contains the site; if that is unknown, that of the path */
    CALLER_OF_SITE,
    /* the function that is next on the path: the caller, as far as it is instrumented */
    CALLER_OF_PATH,
};

/* Returns the calls, added up by caller, site and callee, in the order of the tree. */
call_vector contexts_calls(struct arena *arena, const struct contexts *contexts,
                           enum caller_kind kind);

#endif
