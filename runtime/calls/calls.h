/* calls.h: the calling context tree of a thread, and what the thread keeps beside it.
 *
 * The tree's nodes lie in the data file (format/calls.h).  The rest is the thread's own memory:
 * links. A link is one step of a way: from a link, by a site, into a function.  It tells the node
 * that is entered, and while its function runs it is what tells so, with the stack pointer at the
 * begin. By that, returns, longjmp and exceptions find their nodes.  A table of links is looked up
 * at every call.
 *
 * activation.S has the fast paths and knows these offsets.  What they need of the thread are its
 * words, for each module; thread-local storage has their address.  The words lie in the thread's
 * state: of a shared object that is loaded late the C library has little room for thread-local
 * storage.  Those of an executable whose inserted code asks for them by %fs are thread-local
 * themselves.  They may be gone with the thread; so what others need once it is, stands in the
 * state, and in the nodes.
 *
 * By site, function and stack pointer, `recent` has a link that was found, or the root, which no
 * one looks for.  It mostly is the one; and to look there need not wait for the current link, which
 * is what the processor otherwise waits for at each begin and end.
 *
 * The table has four buckets for each link, so that it is small where there are few ways.  One that
 * grew is not unmapped: a handler may have made it grow while it was looked into.
 *
 * Invariants
 *   - The current link and those that it came from, up to the root, are what is entered and not
 *     left.  The stack pointers of those further up are higher; the root's is the highest.
 *   - A call of what is on the way already is a call of the node there, and goes on in the current
 *     link: so a node's instructions are its own and those of its children, and no instruction is
 *     counted in two nodes of one site and callee.  Its link is only looked up, and opens no node.
 *     So an end whose stack pointer lies below the current link's is that of such a call.
 *   - The current link is told in one module at most, the one whose function is at the top; `cells`
 *     are the thread's there, and `base` is what it has counted in the others.  In all others it is
 *     NULL, and also before the thread has a tree, or thread-local storage.
 *   - Cells and base are above 0 and grow, and a node that is entered has them taken off: so it is
 *     below zero as a signed number, and no other is.
 *   - What a link is found by, and where it leads, is complete before the table leads to it, and is
 *     never changed; so a signal handler may interrupt at any instruction, and enter and leave
 *     functions itself. */
#ifndef QUIPU_RUNTIME_CALLS_CALLS_H
#define QUIPU_RUNTIME_CALLS_CALLS_H

#define WORDS_CURRENT 0
#define WORDS_BASE    8
#define WORDS_RECENT  16
#define WORDS_THREAD  24
#define WORDS_CELLS   32
#define WORDS_SIZE    48

#define CONTEXT_TABLE   0
#define CONTEXT_MASK    8
#define CONTEXT_RECENTS 4096

#define LINK_STACK 0
#define LINK_FROM  8
#define LINK_SITE  16
#define LINK_PLACE 24
#define LINK_OPENS 32
#define LINK_NODE  40
#define LINK_NEXT  48

#define NODE_CALLS     24
#define NODE_INCLUSIVE 32

#define LANES 0, 1, 2, 3 /* QUIPU_CALL_LANES */

#define RED_ZONE 128

#ifndef __ASSEMBLER__

#include "format/calls.h"
#include "format/data_file.h"
#include "format/event.h"
#include "runtime/event/event.h"

enum {
    CONTEXT_CHUNKS = 16,
    CONTEXT_MODULES = 256,
    FIRST_BUCKETS = 1024,
    CROSSINGS = 1 << 18, /* of 32 bytes of stack each: what 8 MiB hold */
};

struct context_module;

/* A thread's, in one module. */
struct context_words {
    struct context_link *current; /* NULL: it has no tree, or is in another module */
    uint64_t base; /* what the thread has counted is this and the cells; above 0, so that nodes that
                      are entered are below */
    struct context_link **recent;
    struct context_thread *thread; /* NULL: none yet */
    const uint64_t *cells;         /* of instructions */
    struct context_module *module;
};

/* What the thread has in one module. */
struct context_module {
    struct context_words *words;
    struct context_words **known; /* the thread-local word that leads to them */
    const uint64_t *cells;        /* of instructions */
    uint64_t place;               /* of the cells in the file */
    struct context_words room;    /* for the words, where they are nowhere else */
};

struct context_link {
    uint64_t stack; /* while it is entered: address of the inserted call's return address, below the
                       function's own; less ACROSS where it was entered from another module */
    struct context_link *from;
    uint64_t site;
    uint64_t place;             /* behind the call of quipu_calls_enter: tells the function */
    struct context_link *opens; /* FROM, but NULL where the node is on the way already */
    struct quipu_context *node; /* whose call it is */
    struct context_link *next;  /* of the bucket */
    uint64_t reserved;
};

enum {
    ACROSS = 1
};

/* A call from another module. */
struct crossing {
    struct context_link
        *link; /* that is entered; where the call opened no node, that of its caller */
    struct context_link *before; /* the current link until then */
    uint64_t stack;              /* what LINK had there */
    struct context_module *from;
};

/* One thread's. */
struct context_thread {
    struct context_link **table; /* buckets, a power of two; it grows with the links in it, */
    uint32_t mask;               /* is 8 less than its size, */
    uint32_t link_count;         /* and has so many */
    uint64_t base;               /* as in the words of the module that leads */
    const uint64_t *cells;
    struct context_thread *next; /* of the process */
    uint64_t self;               /* the thread pointer, */
    uint32_t owner;              /* and its number: who it is */
    bool switching;              /* goes from one module to another */
    uint32_t chunk_count, module_count;
    struct quipu_call_tree *chunks[CONTEXT_CHUNKS];
    struct context_module modules[CONTEXT_MODULES];
    struct context_module *module;          /* the one that it is in */
    struct context_link *links, *links_end; /* room for more */
    struct crossing *crossing;              /* behind the last one */
    struct context_link root;
    struct quipu_context nowhere;          /* what there was no room for */
    _Alignas(QUIPU_PAGE) uint64_t process; /* whose it is; 0 in a copy of the process, where the
                                              kernel wipes this page */
    _Alignas(QUIPU_PAGE) struct context_link *recent[CONTEXT_RECENTS];
    struct context_link *first_table[FIRST_BUCKETS];
    struct crossing crossings[CROSSINGS];
};

_Static_assert(offsetof(struct context_words, base) == WORDS_BASE, "activation.S");
_Static_assert(offsetof(struct context_words, recent) == WORDS_RECENT, "activation.S");
_Static_assert(offsetof(struct context_words, thread) == WORDS_THREAD, "activation.S");
_Static_assert(offsetof(struct context_words, cells) == WORDS_CELLS, "activation.S");
_Static_assert(sizeof(struct context_words) == WORDS_SIZE, "activation.S");
_Static_assert(offsetof(struct context_words, current) == WORDS_CURRENT, "activation.S");
_Static_assert(sizeof((int[]){LANES}) / sizeof(int) == QUIPU_CALL_LANES, "activation.S");
_Static_assert(offsetof(struct context_thread, table) == CONTEXT_TABLE, "activation.S");
_Static_assert(offsetof(struct context_thread, mask) == CONTEXT_MASK, "activation.S");
_Static_assert(offsetof(struct context_thread, first_table) % QUIPU_PAGE == 0, "whole pages");
_Static_assert(offsetof(struct context_link, from) == LINK_FROM, "activation.S");
_Static_assert(offsetof(struct context_link, site) == LINK_SITE, "activation.S");
_Static_assert(offsetof(struct context_link, place) == LINK_PLACE, "activation.S");
_Static_assert(offsetof(struct context_link, opens) == LINK_OPENS, "activation.S");
_Static_assert(offsetof(struct context_link, node) == LINK_NODE, "activation.S");
_Static_assert(offsetof(struct context_link, next) == LINK_NEXT, "activation.S");
_Static_assert(sizeof(struct context_link) == 64, "links fill lines");
_Static_assert(offsetof(struct quipu_context, inclusive) == NODE_INCLUSIVE, "activation.S");

/* activation.S */
/* The calling thread's words in this module; NULL: it has none yet. */
extern __thread struct context_words *quipu_calls_words
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* activation_segment.S, in executables only.  The calling thread's words, if inserted code asks for
 * them by %fs. */
struct context_words *quipu_find_segment_words(void) __attribute__((weak));
WEAK_HERE(quipu_find_segment_words);

/* thread.c */
/* The calling thread's state, made where there is none; NULL: it goes on without.  The thread has
 * its cells now. */
struct context_thread *quipu_find_context(void);
/* The calling thread's state, or NULL: it has none, or none any more. */
struct context_thread *quipu_own_context(void);
/* The thread is now in MODULE. */
void quipu_switch_module(struct context_thread *thread, struct context_module *module);

/* calls.c */
/* LINK, which comes from the current link, is now the current one. */
void quipu_enter_link(struct context_thread *thread, struct context_link *link, uint64_t stack);
/* The current link is left: the one that it came from is current. */
void quipu_leave_link(struct context_thread *thread);
/* The table leads to LINK from now on.  Signals are blocked. */
void quipu_add_link(struct context_thread *thread, struct context_link *link);
/* An empty table, the one it has or if there is none the first. */
void quipu_clear_table(struct context_thread *thread);

/* tree.c */
/* Gives the thread's tree its first chunk, with the root, in the process's file.  Returns minus an
 * error's number. */
long quipu_begin_tree(struct context_thread *thread);
/* The node whose call it is while FROM is the innermost one: a child of FROM, made where there is
 * none.  Or FROM or one above it, which the call is on the way of: then *OPENS is false.  NULL:
 * there is no room. */
struct quipu_context *quipu_find_child(struct context_thread *thread, struct quipu_context *from,
                                       uint64_t site, uint64_t callee, bool *opens);
/* The child of NODE that is entered, or NULL. */
struct quipu_context *quipu_entered_child(const struct context_thread *thread,
                                          const struct quipu_context *node);

static inline bool is_entered(const struct quipu_context *node) {
    return (int64_t)node->inclusive < 0;
}

/* What runs in NODE has ended.  Nothing is to be done where it was not entered yet. */
static inline void end_activation(struct quipu_context *node, uint64_t now) {
    if (is_entered(node))
        node->inclusive += now;
}

static inline struct context_link *current_link(const struct context_thread *thread) {
    return thread->module->words->current;
}

static inline uint64_t sum_cells(const uint64_t *cells) {
    uint64_t sum = 0;
    for (int lane = 0; lane < QUIPU_CALL_LANES; lane++)
        sum += cells[lane];
    return sum;
}

/* What the thread has counted. */
static inline uint64_t context_now(const struct context_thread *thread) {
    return sum_cells(thread->cells) + thread->base;
}

#endif
#endif
