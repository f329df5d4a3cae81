/* call_trees.c: reads calling context trees from data files; see call_trees.h and format/calls.h.
 *
 *     chunks -> tree of a thread -> addresses to places -> merged tree
 *
 * Invariants: a parent precedes its children, in the file and in memory. An index from a file is
 * compared with the number of elements before it is used.
 *
 * Not perfect:
 *   - The numbers of a running process do not belong to one instant. A negative result counts as
 *     zero.
 *   - Recursion is folded, and the instructions of nested calls are the innermost node's: see
 *     format/calls.h. */
#include "data/call_trees.h"

#include "data/datafile.h"
#include "format/calls.h"
#include "format/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The tree of one thread while it is read. */
struct tree {
    const struct process *process;
    struct data_reader *reader;        /* of the process's data file */
    const struct data_contexts *parts; /* sorted by first_index */
    size_t part_count;
    uint64_t size;         /* indexes in use */
    uint64_t instructions; /* executed by the thread */
    struct tree_node *nodes;
    uint32_t root;      /* index of its root's context */
    const char *damage; /* NULL: no damage was found */
};

struct tree_node {
    bool used;        /* false: no node has this index */
    uint32_t context; /* 0: the root */
    uint32_t parent;  /* index + 1; 0: none */
    uint64_t site, callee;
    uint32_t site_module, callee_module; /* as in struct quipu_context */
    uint64_t calls, inclusive, exclusive;
};

static const char *unread(struct call_trees *trees, const struct process *process,
                          const char *cause) {
    return arena_print(&trees->contexts.arena, "'%s': %s", process->file, cause);
}

/* The tree is damaged. If there are other processes, it is left out with a warning. Otherwise
 * returns an error message. */
static const char *leave_out(struct call_trees *trees, const struct tree *tree) {
    struct arena *arena = &trees->contexts.arena;
    const char *text =
        arena_print(arena, "'%s': it is corrupt: the calling contexts of thread %" PRIu32 " %s",
                    tree->process->file, tree->parts->owner, tree->damage);
    if (!trees->lenient)
        return text;
    vector_push(arena, &trees->warnings, arena_print(arena, "%s; they are left out", text));
    return NULL;
}

/* ---- one thread ---- */

static uint64_t not_negative(uint64_t count) {
    return (int64_t)count < 0 ? 0 : count;
}

/* Whether the writer has progressed so far that the node and its parent can be read. It reserves a
 * node first, and then fills it in. */
static bool is_complete(struct tree *tree, uint64_t index, uint32_t parent, uint64_t callee) {
    if (!parent && !callee)
        return !index; /* the root */
    if (!parent || parent > index) {
        tree->damage = "have a node in front of its parent";
        return false;
    }
    return callee && tree->nodes[parent - 1].used;
}

static void read_node(struct call_trees *trees, struct tree *tree, uint64_t index,
                      const struct quipu_context *node) {
    uint32_t parent = __atomic_load_n(&node->parent, __ATOMIC_RELAXED);
    uint64_t callee = __atomic_load_n(&node->callee, __ATOMIC_RELAXED);
    uint64_t inclusive = __atomic_load_n(&node->inclusive, __ATOMIC_RELAXED);
    tree->nodes[index].used = false;
    if (!is_complete(tree, index, parent, callee))
        return;
    bool entered = (int64_t)inclusive < 0, known = !entered || tree->parts->events_offset;
    if (entered && known)
        inclusive += tree->instructions;
    trees->activations += !known;
    tree->nodes[index] = (struct tree_node){
        .used = true,
        .parent = parent,
        .site = node->site,
        .callee = callee,
        .site_module = node->site_module,
        .callee_module = node->callee_module,
        .calls = __atomic_load_n(&node->calls, __ATOMIC_RELAXED),
        .inclusive = known ? not_negative(inclusive) : 0,
        .exclusive = __atomic_load_n(&node->exclusive, __ATOMIC_RELAXED),
    };
}

/* If the tree has no exclusive counts, subtracts the children's inclusive ones. */
static void set_exclusive(struct tree *tree) {
    if (tree->parts->flags & QUIPU_CALL_TREE_EXCLUSIVE)
        return;
    for (uint64_t i = 0; i < tree->size; i++)
        tree->nodes[i].exclusive = tree->nodes[i].inclusive;
    for (uint64_t i = 0; i < tree->size; i++)
        if (tree->nodes[i].used && tree->nodes[i].parent)
            tree->nodes[tree->nodes[i].parent - 1].exclusive -= tree->nodes[i].inclusive;
}

/* Returns the index of the root. */
static uint32_t add_root(struct contexts *contexts, const struct tree *tree) {
    struct context_root root = {.process = tree->process,
                                .owner = tree->parts->owner,
                                .node = (uint32_t)contexts->nodes.count};
    vector_push(&contexts->arena, &contexts->roots, root);
    vector_push(&contexts->arena, &contexts->nodes, ((struct context){.parent = 0}));
    return root.node;
}

/* Returns the merged context of a node. */
static uint32_t find_context(struct call_trees *trees, const struct tree *tree,
                             const struct tree_node *node) {
    if (!node->parent)
        return tree->root;
    uint32_t function =
        place_table_function(&trees->table, tree->process, node->callee_module, node->callee);
    uint32_t site = place_table_site(&trees->table, tree->process, node->site_module, node->site);
    return context_index_number(&trees->index, &trees->contexts,
                                tree->nodes[node->parent - 1].context, site, function);
}

static void add_tree(struct call_trees *trees, struct tree *tree) {
    struct contexts *contexts = &trees->contexts;
    for (uint64_t i = 0; i < tree->size; i++) {
        struct tree_node *node = &tree->nodes[i];
        if (node->used)
            node->context = find_context(trees, tree, node);
        if (!node->used || !node->parent) /* the root is no call */
            continue;
        struct context *context = vector_at(&contexts->nodes, node->context);
        context->calls += node->calls;
        context->inclusive += node->inclusive;
        context->exclusive += not_negative(node->exclusive);
        if (context->parent == tree->root)
            contexts->executed += node->inclusive;
    }
    contexts->trees++;
}

/* Sets the number of instructions that the thread has executed, or 0 if the file does not have it.
 */
static const char *count_executed(struct call_trees *trees, struct tree *tree) {
    const char *cause = NULL;
    if (!tree->parts->events_offset)
        return NULL;
    tree->instructions = tree->parts->events_base;
    const uint64_t *lanes = data_reader_bytes(tree->reader, tree->parts->events_offset,
                                              QUIPU_CALL_LANES * sizeof *lanes, &cause);
    if (!lanes)
        return unread(trees, tree->process, cause);
    for (uint32_t i = 0; i < QUIPU_CALL_LANES; i++)
        tree->instructions += __atomic_load_n(&lanes[i], __ATOMIC_RELAXED);
    return NULL;
}

static const char *read_part(struct call_trees *trees, struct tree *tree,
                             const struct data_contexts *part) {
    const char *cause = NULL;
    for (uint64_t i = part->count; i < part->capacity && part->first_index + i < tree->size; i++)
        tree->nodes[part->first_index + i].used = false;
    if (!part->count)
        return NULL;
    const struct quipu_context *nodes =
        data_reader_bytes(tree->reader, part->nodes_offset, part->count * sizeof *nodes, &cause);
    if (!nodes)
        return unread(trees, tree->process, cause);
    for (uint32_t i = 0; i < part->count; i++)
        read_node(trees, tree, part->first_index + i, &nodes[i]);
    return NULL;
}

static void check_parts(struct tree *tree) {
    uint64_t expected = 0;
    for (size_t i = 0; i < tree->part_count; i++) {
        if (tree->parts[i].first_index != expected)
            tree->damage = "do not follow each other";
        expected += tree->parts[i].capacity;
    }
}

/* Returns room for the nodes of a tree, or NULL. Trees use the same memory, one after the other. */
static struct tree_node *reserve_nodes(struct call_trees *trees, uint64_t size) {
    if (!trees->nodes || size > trees->capacity) {
        free(trees->nodes);
        trees->capacity = size ? size : 1;
        trees->nodes = reallocarray(NULL, trees->capacity, sizeof *trees->nodes);
    }
    return trees->nodes;
}

static const char *read_nodes(struct call_trees *trees, struct tree *tree) {
    const struct data_contexts *last = &tree->parts[tree->part_count - 1];
    tree->size = (uint64_t)last->first_index + last->count;
    tree->nodes = reserve_nodes(trees, tree->size);
    if (!tree->nodes)
        return unread(trees, tree->process, strerror(ENOMEM));
    const char *wrong = count_executed(trees, tree);
    for (size_t i = 0; i < tree->part_count && !tree->damage && !wrong; i++)
        wrong = read_part(trees, tree, &tree->parts[i]);
    return wrong;
}

static void note_copied(struct call_trees *trees, const struct process *process) {
    trees->more_copied |= trees->copied && trees->copied != process;
    if (!trees->copied)
        trees->copied = process;
}

static const char *read_tree(struct call_trees *trees, struct tree *tree) {
    struct arena *arena = &trees->contexts.arena;
    check_parts(tree);
    const char *wrong = tree->damage ? NULL : read_nodes(trees, tree);
    if (!wrong && tree->damage)
        wrong = leave_out(trees, tree);
    if (wrong)
        return wrong;
    if (!tree->damage) {
        set_exclusive(tree);
        if (trees->by_thread)
            tree->root = add_root(&trees->contexts, tree);
        add_tree(trees, tree);
    }
    if (tree->parts->flags & QUIPU_CALL_TREE_COPIED)
        note_copied(trees, tree->process);
    if (tree->parts->flags & QUIPU_CALL_TREE_MERGED)
        vector_push(arena, &trees->warnings,
                    arena_print(arena,
                                "'%s': thread %" PRIu32 " had more paths of calls than there was "
                                "room for; the last ones are counted in those that called them",
                                tree->process->file, tree->parts->owner));
    return NULL;
}

/* ---- one process ---- */

static int compare_parts(const void *left, const void *right) {
    const struct data_contexts *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->first_index < b->first_index ? -1 : a->first_index > b->first_index;
}

/* Reads all trees of PROCESS, whose COUNT parts are sorted, from FILE. */
static const char *read_trees(struct call_trees *trees, const struct process *process,
                              struct data_reader *file, const struct data_contexts *parts,
                              size_t count) {
    const char *wrong = NULL;
    for (size_t first = 0, end; first < count && !wrong; first = end) {
        for (end = first + 1; end < count && parts[end].thread == parts[first].thread;)
            end++;
        struct tree tree = {
            .process = process, .reader = file, .parts = parts + first, .part_count = end - first};
        if (!trees->owner || trees->owner == tree.parts->owner)
            wrong = read_tree(trees, &tree);
    }
    return wrong;
}

const char *call_trees_add(struct call_trees *trees, const struct process *process) {
    size_t count = process->data->contexts.count;
    if (!count)
        return NULL;
    struct arena scratch = {0};
    struct data_reader file;
    const char *cause = data_reader_open(&file, process->data);
    if (cause)
        return unread(trees, process, cause);
    struct data_contexts *parts =
        arena_grow(&scratch, process->data->contexts.data, count, count, sizeof *parts);
    qsort(parts, count, sizeof *parts, compare_parts);
    const char *wrong = read_trees(trees, process, &file, parts, count);
    data_reader_close(&file);
    arena_release(&scratch);
    return wrong;
}

void call_trees_begin(struct call_trees *trees) {
    struct contexts *contexts = &trees->contexts;
    place_table_begin(&trees->table, &contexts->arena);
    vector_push(&contexts->arena, &contexts->nodes, ((struct context){.parent = 0}));
}

void call_trees_end(struct call_trees *trees) {
    free(trees->nodes);
    trees->nodes = NULL;
    trees->capacity = 0;
}
