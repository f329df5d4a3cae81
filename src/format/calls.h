/* calls.h: calling context trees in the data file (--quipu=calls). */
#ifndef QUIPU_FORMAT_CALLS_H
#define QUIPU_FORMAT_CALLS_H

#include "format/data_file.h"

/* The calling context tree of a thread (--quipu=calls).  A node is a way from the thread's begin to
 * a function, by call sites.  Node 0 is the root, all of the thread; it has no site and no callee.
 * Where a callee is entered from a site from which it was entered on the way to here, the call is
 * counted there, and the innermost node is entered once more; so recursion makes no path longer,
 * and nodes of one site and callee are never active at a time: their instructions add up.
 *
 * Instructions of an activation are those from its first to its return, or jump to another
 * function, included; the call is the caller's.  INCLUSIVE is a sum over activations that none of
 * the same node surrounds, modulo 1 << 64: of one that runs, minus what the thread had counted at
 * its begin.  A thread begins with 1, so a node of which one runs is below zero, and no other is.
 * To it, add what the thread has counted now: events_base + the QUIPU_CALL_LANES cells of the file
 * at events_cell, which are exact as events' cells are: while no instrumented code of the thread is
 * in progress but in a call.  Addresses are those of the run: of one in a module, take off its
 * load_bias; addresses in no module are of code that is not instrumented.
 *
 * A tree has one chunk or more, of rising first_index.  The trees of threads that are gone are
 * handed to new ones.  Only the thread itself changes its tree, but for the activations of a thread
 * that is gone, which are ended by the one that takes over its cells. */
struct quipu_context {
    uint32_t parent;       /*  0  1 + index of the node that it was entered from; 0: the root */
    uint32_t reserved;     /*  4  zero */
    uint64_t site;         /*  8  address of the instruction behind the call: what the callee
                                  returns to, so behind jumps between functions the first call's */
    uint64_t callee;       /* 16  address of the function's entry */
    uint64_t calls;        /* 24  how often it was entered, recursion included */
    uint64_t inclusive;    /* 32  instructions, its callees' included; below zero: see above */
    uint32_t first_child;  /* 40  1 + index; 0: none */
    uint32_t next_sibling; /* 44  1 + index; 0: none */
    uint64_t exclusive;    /* 48  of these, its own; only in trees that say so in their flags */
    uint64_t reserved2;    /* 56  zero */
};

enum quipu_contexts_flags {
    QUIPU_CALL_TREE_MERGED = 1, /* there was no room: some calls were not told from their callers */
    QUIPU_CALL_TREE_EXCLUSIVE = 2, /* nodes have exclusive counts: a tree of 'quipu merge' */
    QUIPU_CALL_TREE_COPIED = 4, /* a process that no handler of fork's heard of had the tree, too,
                                  until it came to a way that it did not know */
};

struct quipu_call_tree {
    struct quipu_chunk chunk;
    uint32_t owner;               /* 16  thread id of the last or present owner */
    uint32_t count;               /* 20  nodes of this chunk in use */
    uint32_t capacity;            /* 24  nodes of this chunk */
    uint32_t flags;               /* 28  QUIPU_CALL_TREE_..., in the tree's first chunk */
    uint64_t thread;              /* 32  number of the tree in the process: 1, 2, ... */
    uint64_t first_index;         /* 40  index in the tree of this chunk's first node */
    uint64_t events_base;         /* 48  in the tree's first chunk: see above */
    uint64_t events_cell;         /* 56  in the tree's first chunk: offset in the file; 0: none */
    struct quipu_context nodes[]; /* 64 */
};

#endif
