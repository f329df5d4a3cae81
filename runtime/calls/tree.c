/* tree.c: the nodes of a calling context tree, in the data file.
 *
 * A tree grows by chunks, each as large as all earlier ones together. If it cannot or must not grow
 * further, its flags say so, and calls are counted in their callers. The readers warn of that. The
 * program itself does so only if the file cannot grow: what it writes to standard error may be
 * compared, and a large interpreter reaches the limit of a tree by itself.
 *
 * Only the thread itself adds nodes. But a signal handler may interrupt it at any instruction and
 * add some, too. So a node is taken by one atomic exchange and linked by another. At worst there
 * are two nodes for one path, and readers add them up.
 *
 * A function may have many thousand call sites, so a child is not searched among its siblings: a
 * hash table of the thread has all nodes. If it cannot grow, it has no more of them, and siblings
 * are searched. A table that was too small stays mapped: a handler may have made it grow during a
 * search. */
#include "format/calls.h"
#include "format/data_file.h"
#include "runtime/calls/calls.h"
#include "runtime/core/hash.h"
#include "runtime/core/syscall.h"

#include <errno.h>

enum {
    FIRST_SIZE = 2 * QUIPU_PAGE,
    NODES_MAX = 1 << 20,
};

static uint64_t size_of_table(uint32_t mask) {
    return sizeof(struct child_table) + ((uint64_t)mask + 1) * sizeof(uint32_t);
}

static uint64_t chunk_end(const struct quipu_call_tree *chunk) {
    return chunk->first_index + chunk->capacity;
}

/* Adds a chunk. The caller holds the lock. */
static long map_chunk(struct context_thread *thread, int fd, uint64_t size) {
    uint64_t offset = quipu_state.file->size;
    long error = quipu_reserve(fd, offset, size);
    if (error < 0)
        return error;
    struct quipu_call_tree *chunk =
        map_memory(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (is_error(chunk))
        return (long)chunk;
    const struct quipu_call_tree *first = thread->chunk_count ? thread->chunks[0] : chunk;
    chunk->chunk = (struct quipu_chunk){.kind = QUIPU_CALL_TREE, .size = size};
    chunk->owner = thread->owner;
    chunk->capacity = (uint32_t)((size - sizeof *chunk) / sizeof(struct quipu_context));
    chunk->thread = first->thread;
    if (thread->chunk_count)
        chunk->first_index = chunk_end(thread->chunks[thread->chunk_count - 1]);
    thread->chunks[thread->chunk_count++] = chunk;
    set_file_size(offset + size);
    return 0;
}

static long add_chunk(struct context_thread *thread, uint64_t size) {
    long fd = quipu_borrow_data();
    if (fd < 0)
        return fd;
    long error = map_chunk(thread, (int)fd, size);
    quipu_return_data((int)fd);
    return error;
}

/* Makes room for more nodes. Returns false if that is impossible. */
static bool grow_tree(struct context_thread *thread) {
    struct quipu_call_tree *first = thread->chunks[0];
    uint64_t mask = block_signals();
    long error = 0;
    const struct quipu_call_tree *last = thread->chunks[thread->chunk_count - 1];
    if (first->flags & QUIPU_CALL_TREE_MERGED) {
        error = -ENOSPC; /* has been reported already */
    } else if (last->count >= last->capacity) {
        quipu_lock(quipu_state.file);
        error =
            chunk_end(last) >= NODES_MAX || thread->chunk_count == CONTEXT_CHUNKS
                ? -EOVERFLOW /* a limit of the tree, not of the disk */
                : add_chunk(thread, thread->chunk_count == 1 ? FIRST_SIZE : 2 * last->chunk.size);
        quipu_unlock(quipu_state.file);
        if (error < 0) {
            first->flags |= QUIPU_CALL_TREE_MERGED;
            if (error != -EOVERFLOW)
                quipu_warn("extend", false, -error,
                           "some calls are counted as parts of their callers");
        }
    }
    restore_signals(mask);
    return error == 0;
}

/* Empties the table of children, or makes the first one. */
static void clear_children(struct context_thread *thread) {
    struct child_table *first = (struct child_table *)thread->first_children,
                       *last = thread->children;
    if (last && last != first)
        SYSTEM_CALL(munmap, last, size_of_table(last->mask), 0, 0, 0, 0);
    SYSTEM_CALL(madvise, first, sizeof thread->first_children, MADV_DONTNEED, 0, 0, 0);
    first->mask = FIRST_CHILDREN - 1;
    thread->children = first;
    thread->child_count = 0;
}

long quipu_begin_tree(struct context_thread *thread) {
    thread->chunk_count = 0;
    clear_children(thread);
    long error = add_chunk(thread, FIRST_SIZE);
    if (error == 0)
        thread->chunks[0]->count = 1; /* the root */
    return error;
}

static struct quipu_context *node_at(const struct context_thread *thread, uint32_t number) {
    uint32_t chunk = thread->chunk_count - 1;
    while (thread->chunks[chunk]->first_index >= number)
        chunk--;
    return &thread->chunks[chunk]->nodes[number - 1 - thread->chunks[chunk]->first_index];
}

/* Returns 1 + the index of NODE. */
static uint32_t number_of(const struct context_thread *thread, const struct quipu_context *node) {
    for (uint32_t i = 0; i < thread->chunk_count; i++) {
        const struct quipu_call_tree *chunk = thread->chunks[i];
        if ((uint64_t)node - (uint64_t)chunk < chunk->chunk.size)
            return (uint32_t)(chunk->first_index + (uint64_t)(node - chunk->nodes) + 1);
    }
    return 1;
}

static struct quipu_context *take_node(struct context_thread *thread) {
    for (;;) {
        struct quipu_call_tree *last = thread->chunks[thread->chunk_count - 1];
        uint32_t index = __atomic_load_n(&last->count, __ATOMIC_RELAXED);
        if (index >= last->capacity) {
            if (!grow_tree(thread))
                return NULL;
        } else if (__atomic_compare_exchange_n(&last->count, &index, index + 1, false,
                                               __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            return &last->nodes[index];
        }
    }
}

struct quipu_context *quipu_entered_child(const struct context_thread *thread,
                                          const struct quipu_context *node) {
    for (uint32_t n = node->first_child; n; n = node_at(thread, n)->next_sibling)
        if (is_entered(node_at(thread, n)))
            return node_at(thread, n);
    return NULL;
}

/* A module that was where the callee's is has another mark. */
static bool is_call(const struct quipu_context *node, const struct context_call *call) {
    return node->site == call->site && node->callee == call->callee &&
           node->callee_module == call->callee_module;
}

/* ---- Children ---- */

static uint32_t slot_of(uint32_t parent, uint64_t site, uint64_t callee) {
    uint64_t of_site = scatter_bits(scatter_bits(parent) + site);
    return (uint32_t)(scatter_bits(of_site + callee) >> 32);
}

static void put_child(struct child_table *table, uint32_t slot, uint32_t number) {
    for (uint32_t none = 0;; none = 0, slot++)
        if (__atomic_compare_exchange_n(&table->nodes[slot & table->mask], &none, number, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
}

/* The caller has blocked signals. */
static void enlarge_children(struct context_thread *thread) {
    struct child_table *old = thread->children;
    uint32_t mask = 4 * (old->mask + 1) - 1;
    struct child_table *table = map_memory(NULL, size_of_table(mask), PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (is_error(table)) {
        thread->children = NULL;
        return;
    }
    table->mask = mask;
    for (uint32_t i = 0; i <= old->mask; i++) {
        uint32_t number = old->nodes[i];
        const struct quipu_context *node = number ? node_at(thread, number) : NULL;
        if (node)
            put_child(table, slot_of(node->parent, node->site, node->callee), number);
    }
    __atomic_store_n(&thread->children, table, __ATOMIC_RELEASE);
}

static bool is_crowded(const struct context_thread *thread) {
    return thread->children && thread->child_count > thread->children->mask / 2;
}

/* Adds node NUMBER to the table. If a handler makes that grow meanwhile, it has the node once or
 * twice. */
static void add_child(struct context_thread *thread, uint32_t number, uint32_t slot) {
    struct child_table *table;
    __atomic_fetch_add(&thread->child_count, 1, __ATOMIC_RELAXED);
    if (is_crowded(thread)) {
        uint64_t mask = block_signals();
        if (is_crowded(thread))
            enlarge_children(thread);
        restore_signals(mask);
    }
    do {
        table = __atomic_load_n(&thread->children, __ATOMIC_ACQUIRE);
        if (table)
            put_child(table, slot, number);
    } while (__atomic_load_n(&thread->children, __ATOMIC_ACQUIRE) != table);
}

/* Returns the child of FROM, whose number is PARENT, for the call, or NULL. */
static struct quipu_context *find_child(const struct context_thread *thread,
                                        const struct quipu_context *from, uint32_t parent,
                                        const struct context_call *call) {
    const struct child_table *table = __atomic_load_n(&thread->children, __ATOMIC_ACQUIRE);
    if (!table) {
        for (uint32_t n = from->first_child; n; n = node_at(thread, n)->next_sibling)
            if (is_call(node_at(thread, n), call))
                return node_at(thread, n);
        return NULL;
    }
    for (uint32_t slot = slot_of(parent, call->site, call->callee);; slot++) {
        uint32_t number = table->nodes[slot & table->mask];
        struct quipu_context *node = number ? node_at(thread, number) : NULL;
        if (!node || (node->parent == parent && is_call(node, call)))
            return node;
    }
}

/* Returns the node of the path that ends in FROM for the call, or NULL. Links are read, not the
 * nodes: a long path of them is much faster to walk. */
static struct quipu_context *find_on_path(const struct context_link *from,
                                          const struct context_call *call) {
    for (; from->from; from = from->from)
        if (from->site == call->site && from->node->callee == call->callee)
            return from->node;
    return NULL;
}

struct quipu_context *quipu_find_child(struct context_thread *thread,
                                       const struct context_link *from_link,
                                       const struct context_call *call, bool *opens) {
    struct quipu_context *from = from_link->node, *on_path = find_on_path(from_link, call);
    *opens = !on_path;
    if (on_path)
        return on_path;
    uint32_t parent = number_of(thread, from);
    struct quipu_context *node = find_child(thread, from, parent, call);
    if (node)
        return node;
    node = take_node(thread);
    if (!node)
        return NULL;
    *node = (struct quipu_context){.parent = parent,
                                   .callee_module = call->callee_module,
                                   .site = call->site,
                                   .callee = call->callee,
                                   .site_module = call->site_module};
    uint32_t number = number_of(thread, node);
    node->next_sibling = __atomic_load_n(&from->first_child, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&from->first_child, &node->next_sibling, number, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    add_child(thread, number, slot_of(parent, call->site, call->callee));
    return node;
}
