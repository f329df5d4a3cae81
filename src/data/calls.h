/* calls.h: the calling context trees of a run (--quipu=calls), added up into one. */
#ifndef QUIPU_DATA_CALLS_H
#define QUIPU_DATA_CALLS_H

#include "data/places.h"
#include "data/profile.h"

/* A path of calls from the root, by its last one. */
struct context {
    uint32_t parent;    /* index; 0: the root, which is no call */
    uint32_t site;      /* number in places.sites */
    uint32_t function;  /* number in places.functions: what was called */
    uint64_t calls;     /* 0: the path of a forked child came from its parent process */
    uint64_t inclusive; /* instructions of it and of all that it called; recursion counted once */
    uint64_t exclusive; /* of these, its own */
};

struct contexts {
    struct arena arena;
    struct places places;
    VECTOR(struct context) nodes; /* [0] is the root; parents stand before their children */
    uint64_t executed;            /* instructions of all */
    uint32_t trees;               /* threads that they are of */
};

/* Whether any of the processes that are selected has calling contexts. */
bool contexts_here(const struct profile *profile, struct selection selection);

/* Reads the trees of all selected threads into CONTEXTS.  Activations that have not ended count up
 * to now.  Ends the program with an error where a tree is corrupt. */
void contexts_read(struct profile *profile, struct selection selection, struct contexts *contexts);

void contexts_release(struct contexts *contexts);

/* The same for a command that needs them: where there are none, ends the program with an error that
 * says how to get them. */
void contexts_need(struct profile *profile, struct selection selection, struct contexts *contexts);

/* How many nodes the trees of PROCESS have, roots left out. */
uint64_t contexts_count(const struct process *process);

/* All calls of one function from one place. */
struct call {
    uint32_t caller; /* number of the function; 0: not known */
    uint32_t site, callee;
    uint64_t calls;
    uint64_t inclusive; /* of the outermost of these calls on each path */
    uint64_t outermost; /* of those within no other call of the callee: their sum over all calls of
                           a function is the function's inclusive count */
};

typedef VECTOR(struct call) call_vector;

enum caller_kind {
    CALLER_OF_SITE, /* the function that the site lies in, else that of the path */
    CALLER_OF_PATH, /* the function that is next on the path: its caller as far as it is
                       instrumented */
};

/* Adds up the calls by caller, site and callee, in the order of the tree. */
call_vector contexts_calls(struct arena *arena, const struct contexts *contexts,
                           enum caller_kind kind);

#endif
