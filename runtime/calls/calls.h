/* calls.h: the calling context tree of a thread, and the thread's own data for it.
 *
 * The tree's nodes are in the data file (format/calls.h). Links are in the thread's own memory. A
 * link is one step of a path: from another link, by a call site, into a function. It has the node
 * that the step enters. While its function runs it also has the stack pointer at the function's
 * entry; with it, returns, longjmp and exceptions find their nodes. Each call looks up a table of
 * links.
 *
 * activation.S has the fast paths and knows the offsets below. They use the thread's words, one set
 * for each module. A thread-local variable has their address. The words are in the thread's state,
 * because the C library has little room for thread-local storage of shared objects that are loaded
 * late. An executable whose inserted code uses %fs has the words themselves in thread-local
 * storage. They may disappear with the thread; so data that is needed later is in the state, and in
 * the nodes.
 *
 * `recent` has, for a hash of site, function and stack pointer, the link that was found last, or
 * the root, which no lookup wants. Mostly it is the right link. And this lookup does not wait for
 * the current link, which the processor otherwise waits for at each entry and end.
 *
 * The table has four buckets for each link, so it is small if there are few paths. When it grows,
 * the old one stays mapped: a handler may have made it grow during a lookup.
 *
 * Invariants
 *   - The current link and its ancestors up to the root are those that are entered and not left.
 *     The stack pointer increases towards the root.
 *   - A call of a node that is already on the path is counted in that node, and the current link
 *     stays. So a node's instructions are its own and its children's, and no instruction is counted
 *     in two nodes of the same site and callee. The link of such a call is only looked up, and
 *     opens no node. So an end whose stack pointer is below the current link's is the end of such a
 *     call.
 *   - At most one module has the current link: the one of the innermost function. `cells` are the
 *     thread's cells there, and `base` is the count in all other modules. Elsewhere the current
 *     link is NULL, also before the thread has a tree or thread-local storage.
 *   - Cells plus base are above 0 and increase. They are subtracted from a node when it is entered.
 *     So exactly the entered nodes are negative as signed numbers.
 *   - The key of a link, and its target, are complete before the table leads to it, and do not
 *     change, except that a link of a closed module gets a key that no call has. So a signal
 *     handler may interrupt at any instruction, and enter and leave functions itself. */
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
    FIRST_CHILDREN = 1024,
    CROSSINGS = 1 << 18, /* of 32 bytes of stack each: as many as fit in 8 MiB */
};

struct context_module;

/* Words of a thread, for one module. */
struct context_words {
    struct context_link *current; /* NULL: it has no tree, or is in another module */
    uint64_t base; /* count of the thread = this + the cells; above 0, so that entered nodes are
                    * negative */
    struct context_link **recent;
    struct context_thread *thread; /* NULL: none yet */
    const uint64_t *cells;         /* of instructions */
    struct context_module *module;
};

/* Data of a thread for one module. */
struct context_module {
    struct context_words *words;
    struct context_words **known; /* the thread-local variable that points to the words */
    const uint64_t *cells;        /* of instructions */
    uint64_t place;               /* offset of the cells in the file */
    uint32_t mark;                /* QUIPU_LOAD_MARK */
    struct context_words room;    /* the words, unless they are in thread-local storage */
};

struct context_link {
    uint64_t stack; /* while it is entered: address of the inserted call's return address, below the
                     * function's own; less ACROSS if it was entered from another module */
    struct context_link *from;
    uint64_t site;
    uint64_t place;             /* address behind the call of quipu_calls_enter: identifies the
                                 * function */
    struct context_link *opens; /* FROM; NULL if the node is already on the path */
    struct quipu_context *node; /* the node that the call enters */
    struct context_link *next;  /* in its bucket */
    uint64_t reserved;
};

enum {
    ACROSS = 1
};

/* In a link's site or place: the module that was there is closed. Addresses do not have this bit.
 */
#define CLOSED (UINT64_C(1) << 63)

/* A call, as nodes have it. */
struct context_call {
    uint64_t site, callee;
    uint32_t site_module, callee_module; /* as in struct quipu_context */
};

/* A call from another module. */
struct crossing {
    struct context_link *link; /* the entered link; if the call opened no node, its caller's link */
    struct context_link *before; /* the current link before the call */
    uint64_t stack;              /* value of LINK's `stack` before the call */
    struct context_module *from;
};

/* The nodes of a tree by parent, site and callee. Invariant: at most half of it is in use. */
struct child_table {
    uint32_t mask;    /* number of nodes, a power of two, minus 1 */
    uint32_t nodes[]; /* 1 + index; 0: free */
};

/* The state of one thread. */
struct context_thread {
    struct context_link **table; /* buckets; their number is a power of two and grows with that of
                                  * links */
    uint32_t mask;               /* size in bytes - 8 */
    uint32_t link_count;         /* number of links */
    uint64_t base;               /* as in the words of the present module */
    const uint64_t *cells;
    struct context_thread *next; /* in the process */
    uint64_t self;               /* thread pointer ... */
    uint64_t openings;           /* up to this opening of a module, no link is an earlier one's */
    uint32_t owner;              /* ... and kernel's number: they identify the thread */
    bool switching;              /* it is moving from one module to another */
    uint32_t chunk_count, module_count;
    struct quipu_call_tree *chunks[CONTEXT_CHUNKS];
    struct context_module modules[CONTEXT_MODULES];
    struct context_module *module;          /* the present module */
    struct context_link *links, *links_end; /* room for more links */
    struct context_link *first_links; /* all mappings of links, by `next` of their first ones */
    struct crossing *crossing;        /* behind the last one in use */
    struct context_link root;
    struct quipu_context nowhere; /* counts what there is no room for */
    struct child_table *children; /* all nodes; NULL: they are not in a table */
    uint32_t child_count;
    _Alignas(QUIPU_PAGE) uint64_t process; /* its process; 0 in a copied process, where the kernel
                                            * clears this page */
    _Alignas(QUIPU_PAGE) struct context_link *recent[CONTEXT_RECENTS];
    struct context_link *first_table[FIRST_BUCKETS];
    _Alignas(QUIPU_PAGE) uint32_t first_children[1 + FIRST_CHILDREN]; /* a table */
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
/* The calling thread's words in this module. NULL: none yet. */
extern __thread struct context_words *quipu_calls_words
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* activation_segment.S, in executables only. Returns the calling thread's words, if inserted code
 * uses them by %fs. */
struct context_words *quipu_find_segment_words(void) __attribute__((weak));
WEAK_HERE(quipu_find_segment_words);

/* thread.c */
/* Returns the calling thread's state, and makes it if there is none. NULL: the thread continues
 * without one. The thread has its cells afterwards. */
struct context_thread *quipu_find_context(void);
/* Returns the calling thread's state, or NULL if it has none, or no longer has one. */
struct context_thread *quipu_own_context(void);
/* Moves the thread to MODULE. */
void quipu_switch_module(struct context_thread *thread, struct context_module *module);

/* calls.c */
/* Makes LINK, whose parent is the current link, the current one. */
void quipu_enter_link(struct context_thread *thread, struct context_link *link, uint64_t stack);
/* Leaves the current link, and makes its parent the current one. */
void quipu_leave_link(struct context_thread *thread);
/* Adds LINK to the table. A handler may add others at any instruction. */
void quipu_add_link(struct context_thread *thread, struct context_link *link);
/* A module has been opened whose code is from START to END: the links into it or from it that the
 * table may find are those of MARK, and of no module that was there before. 0: of none. */
void quipu_revise_links(struct context_thread *thread, uint64_t start, uint64_t end, uint32_t mark);
/* Empties the table, or makes the first one. */
void quipu_clear_table(struct context_thread *thread);
/* The same when none of its links is entered: all of them are room for new ones. */
void quipu_reuse_links(struct context_thread *thread);

/* tree.c */
/* Gives the thread's tree its first chunk, with the root, in the process's file. Returns 0 or the
 * negative error number. */
long quipu_begin_tree(struct context_thread *thread);
/* Returns the node for a call while FROM is the innermost link: a child of FROM's node, which is
 * made if there is none; or the node of FROM or an ancestor, if the call is already on the path,
 * with *OPENS = false. NULL: there is no room. */
struct quipu_context *quipu_find_child(struct context_thread *thread,
                                       const struct context_link *from,
                                       const struct context_call *call, bool *opens);
/* Returns the child of NODE that is entered, or NULL. */
struct quipu_context *quipu_entered_child(const struct context_thread *thread,
                                          const struct quipu_context *node);

/* Returns the mark of this module's present load. */
static inline uint32_t own_mark(void) {
    return QUIPU_LOAD_MARK(quipu_state.module_number, quipu_state.load_number);
}

static inline bool is_entered(const struct quipu_context *node) {
    return (int64_t)node->inclusive < 0;
}

/* Ends the activation of NODE. Does nothing if it was not entered yet. */
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

/* Returns the count of the thread. */
static inline uint64_t context_now(const struct context_thread *thread) {
    return sum_cells(thread->cells) + thread->base;
}

#endif
#endif
