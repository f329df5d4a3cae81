/* calls.h: calling context trees in the data file (--quipu=calls). */
#ifndef QUIPU_FORMAT_CALLS_H
#define QUIPU_FORMAT_CALLS_H

#include "format/data_file.h"

/* The calling context tree of a thread (--quipu=calls).
 *
 * A node is a path of call sites from the thread's begin to a function. Node 0 is the root: all of
 * the thread. It has no site and no callee.
 *
 * If a call's site and callee are those of a node on the present path, the call is counted in that
 * node, and the innermost node stays the current one. So recursion makes no path longer. Nodes of
 * the same site and callee are never active at the same time, so their instructions can be added
 * up.
 *
 * The instructions of an activation are all from its first one to its return, or to its jump to
 * another function, both included. The call instruction belongs to the caller. INCLUSIVE is the sum
 * over the node's activations, modulo 1 << 64. At the begin of an activation, the thread's count is
 * subtracted from it; at the end, the count is added. The count of a thread begins with 1. So a
 * node is negative, as a signed number, exactly while an activation of it runs. To get the
 * instructions of such a node, add the thread's present count to INCLUSIVE. This is events_base +
 * the QUIPU_CALL_LANES cells of the file at events_cell. They are exact under the same condition as
 * all cells of events: no instrumented code of the thread is in progress, unless it waits for the
 * return of a call.
 *
 * Addresses are those of the run. For an address in a module, subtract the module's load_bias. An
 * address in no module belongs to code that is not instrumented. A module may have been where
 * another one was before, which is closed now: so a node tells which loads of modules its addresses
 * are in.
 *
 * A tree has one or more chunks, with increasing first_index. When a thread is gone, its tree is
 * given to a new thread. Only the thread itself changes its tree, with one exception: the thread
 * that takes over the cells of a thread that is gone ends the activations of that thread. */
struct quipu_context {
    uint32_t parent;        /*  0  1 + index of the parent node; 0: this is the root */
    uint32_t callee_module; /*  4  QUIPU_LOAD_MARK of the callee's module; 0: not known */
    uint64_t site;         /*  8  return address of the call; after jumps between functions, that of
                                  the first call */
    uint64_t callee;       /* 16  address of the function's entry */
    uint64_t calls;        /* 24  number of entries, recursion included */
    uint64_t inclusive;    /* 32  instructions, including those of callees; negative: see above */
    uint32_t first_child;  /* 40  1 + index; 0: none */
    uint32_t next_sibling; /* 44  1 + index; 0: none */
    uint64_t exclusive;    /* 48  the node's own instructions; only in trees with
                                  QUIPU_CALL_TREE_EXCLUSIVE */
    uint32_t site_module;  /* 56  that of the module that the site is in, if it is in an
                                  instrumented one; 0: not known */
    uint32_t reserved;     /* 60  zero */
};

enum quipu_contexts_flags {
    QUIPU_CALL_TREE_MERGED = 1,    /* no room: some calls are counted as parts of their callers */
    QUIPU_CALL_TREE_EXCLUSIVE = 2, /* nodes have exclusive counts: a tree of 'quipu merge' */
    QUIPU_CALL_TREE_COPIED = 4, /* a process that was made without fork handlers had the tree, too,
                                   until it took a path that was new to it */
};

struct quipu_call_tree {
    struct quipu_chunk chunk;
    uint32_t owner;               /* 16  thread id of the present or last owner */
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
