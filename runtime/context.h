/* context.h: the calling context tree of a thread, and what the thread keeps beside it.
 *
 * The tree's nodes lie in the data file (data/format.h).  The rest is the thread's own memory:
 *   - the stack of activations, by which returns, longjmp and exceptions find their nodes,
 *   - links, which tell for a node, a site and a function the node that is entered, and a table of
 *     them that is looked up at every call.
 *
 * activation.S has the fast paths and knows these offsets.
 *
 * Invariants
 *   - `top` points to the last activation; the first one is the thread's root and has the highest
 *     stack pointer that there is.
 *   - quipu_context is set in one module at most, the one whose function is at the top; `cell` is
 *     the thread's there, and `base` is what it has counted in the others.
 *   - A link is complete before a bucket leads to it, and is never changed; so a signal handler may
 *     interrupt at any instruction, and enter and leave functions itself.
 *   - The top's node is the innermost one.  It and those above it are those that have been entered
 *     and not left, in the order of their outermost activations.  A call of one of them enters the
 *     innermost node once more: so a node's instructions are its own and those of its children, and
 *     no instruction is counted in two nodes of one site and callee. */
#ifndef QUIPU_RUNTIME_CONTEXT_H
#define QUIPU_RUNTIME_CONTEXT_H

#define CONTEXT_TOP     0
#define CONTEXT_LIMIT   8
#define CONTEXT_CELL    16
#define CONTEXT_BASE    24
#define CONTEXT_TABLE   4096
#define CONTEXT_BUCKETS 16384

#define LINK_FROM  0
#define LINK_SITE  8
#define LINK_PLACE 16
#define LINK_TO    24
#define LINK_CALL  32
#define ACTIVATION 24 /* bytes */

#define NODE_DEPTH     4
#define NODE_CALLS     24
#define NODE_INCLUSIVE 32

#ifndef __ASSEMBLER__

#include "event.h"

enum {
    CONTEXT_CHUNKS = 16,
    CONTEXT_MODULES = 16,
    ACTIVATIONS = 1 << 19, /* of 16 bytes of stack each: what 8 MiB hold */
};

struct activation {
    uint64_t stack; /* as the inserted code's calls see it: the stack pointer at entry, minus 24;
                       less ACROSS where it was entered from another module */
    struct quipu_context *node;
    struct context_module *from; /* ACROSS: that module */
};

enum {
    ACROSS = 1
};

/* What the thread has in one module. */
struct context_module {
    struct context_thread **pointer; /* its quipu_context */
    const uint64_t *cell;            /* of instructions */
    uint64_t place;                  /* of the cell in the file */
};

struct context_link {
    struct quipu_context *from;
    uint64_t site;
    uint64_t place;             /* behind the call of quipu_context_enter: tells the function */
    struct quipu_context *to;   /* the innermost node then */
    struct quipu_context *call; /* whose call it is: the same, or one above FROM, which stays */
    struct context_link *next;  /* of the bucket */
};

/* One thread's. */
struct context_thread {
    struct activation *top;
    struct activation *limit; /* no further one fits */
    const uint64_t *cell;     /* the thread's instructions are *cell + base */
    uint64_t base;
    struct context_thread *next; /* of the process */
    uint64_t self;               /* the thread pointer, */
    uint32_t owner;              /* and its number: who it is */
    bool switching;              /* goes from one module to another */
    uint32_t chunk_count, module_count;
    struct quipu_contexts *chunks[CONTEXT_CHUNKS];
    struct context_module modules[CONTEXT_MODULES];
    struct context_module *module;          /* the one that it is in */
    struct context_link *links, *links_end; /* room for more */
    char padding[CONTEXT_TABLE - 88 - 8 * CONTEXT_CHUNKS - 24 * CONTEXT_MODULES];
    struct context_link *table[CONTEXT_BUCKETS];
    struct activation activations[ACTIVATIONS];
};

_Static_assert(offsetof(struct context_thread, cell) == CONTEXT_CELL, "activation.S");
_Static_assert(offsetof(struct context_thread, base) == CONTEXT_BASE, "activation.S");
_Static_assert(offsetof(struct context_thread, table) == CONTEXT_TABLE, "activation.S");
_Static_assert(offsetof(struct context_link, to) == LINK_TO, "activation.S");
_Static_assert(offsetof(struct context_link, call) == LINK_CALL, "activation.S");
_Static_assert(sizeof(struct activation) == ACTIVATION, "activation.S");
_Static_assert(offsetof(struct quipu_context, inclusive) == NODE_INCLUSIVE, "activation.S");

/* activation.S: the calling thread's; NULL while it is in another module. */
extern __thread struct context_thread *quipu_context
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The same, also then; NULL: none yet. */
extern __thread struct context_thread *quipu_context_known
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* context_thread.c */
/* The calling thread's state, made where there is none; NULL: it goes on without. */
struct context_thread *quipu_find_context(void);
/* The thread is now in MODULE. */
void quipu_switch_module(struct context_thread *thread, struct context_module *module);
/* This module's, of the calling thread's. */
struct context_module *quipu_own_module(struct context_thread *thread);

/* context.c */
void quipu_enter_node(struct context_thread *thread, struct activation activation);
/* The node of the top is left; what stands below it becomes the top. */
struct activation quipu_pop_activation(struct context_thread *thread);

/* context_tree.c */
/* Gives the thread's tree its first chunk, with the root, in the process's file.  Returns minus an
 * error's number. */
long quipu_begin_tree(struct context_thread *thread);
/* The node whose call it is while FROM is the innermost one: FROM or one above it, else a child of
 * FROM; made where there is none.  NULL: there is no room.  TO is the innermost node then. */
struct quipu_context *quipu_find_child(struct context_thread *thread, struct quipu_context *from,
                                       uint64_t site, uint64_t callee, struct quipu_context **to);

/* What the thread has counted. */
static inline uint64_t context_now(const struct context_thread *thread) {
    return *thread->cell + thread->base;
}

#endif
#endif
