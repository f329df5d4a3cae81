/* calls.c: calling context trees; see calls.h and format/calls.h.
 *
 * Source: Ammons, Ball, Larus, "Exploiting hardware performance counters with flow and context
 * sensitive profiling", PLDI 1997, section 4.
 *
 *     chunks -> trees of threads -> addresses to places -> one tree       contexts_read
 *     paths -> calls by caller, site and callee                           contexts_calls
 *
 * Invariants: a parent precedes its children, in the file and in memory. An index from a file is
 * compared with the number of elements before it is used.
 *
 * Not perfect:
 *   - The numbers of a running process do not belong to one instant. A negative result counts as
 * zero.
 *   - Recursion is folded, and the instructions of nested calls are the innermost node's: see
 *     format/calls.h. */
#include "data/calls.h"

#include "data/context_index.h"
#include "data/datafile.h"
#include "format/calls.h"
#include "format/event.h"
#include "util/diag.h"

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

struct reader {
    struct contexts *contexts;
    struct profile *profile;
    struct selection selection;
    struct context_index index;   /* of the contexts */
    uint32_t activations;         /* activations whose end is unknown */
    const struct process *copied; /* the first process of which a copy had a tree, too */
    bool more_copied;
    bool by_thread; /* each thread has a root of its own */
};

_Noreturn static void die_unread(const struct process *process, const char *cause) {
    die("'%s': %s", process->file, cause);
}

/* The tree is damaged. If there are other processes, it is left out with a warning. Otherwise this
 * ends the program with an error. */
static void leave_out(const struct reader *reader, const struct tree *tree) {
    const char *file = tree->process->file;
    uint32_t owner = tree->parts->owner;
    if (reader->profile->processes.count == 1)
        die("'%s': it is corrupt: the calling contexts of thread %" PRIu32 " %s", file, owner,
            tree->damage);
    warn("'%s': it is corrupt: the calling contexts of thread %" PRIu32 " %s; they are left out",
         file, owner, tree->damage);
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

/* Returns the merged context of a node. */
static uint32_t find_context(struct reader *reader, const struct tree *tree,
                             const struct tree_node *node) {
    if (!node->parent)
        return tree->root;
    struct places *places = &reader->contexts->places;
    return context_index_number(
        &reader->index, reader->contexts, tree->nodes[node->parent - 1].context,
        places_site(places, tree->process, node->site_module, node->site),
        places_function(places, tree->process, node->callee_module, node->callee));
}

static void read_node(struct reader *reader, struct tree *tree, uint64_t index,
                      const struct quipu_context *node) {
    uint32_t parent = __atomic_load_n(&node->parent, __ATOMIC_RELAXED);
    uint64_t callee = __atomic_load_n(&node->callee, __ATOMIC_RELAXED);
    uint64_t inclusive = __atomic_load_n(&node->inclusive, __ATOMIC_RELAXED);
    if (!is_complete(tree, index, parent, callee))
        return;
    bool entered = (int64_t)inclusive < 0, known = !entered || tree->parts->events_offset;
    if (entered && known)
        inclusive += tree->instructions;
    reader->activations += !known;
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
        if (tree->nodes[i].parent)
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

static void add_tree(struct reader *reader, struct tree *tree) {
    struct contexts *contexts = reader->contexts;
    for (uint64_t i = 0; i < tree->size; i++) {
        struct tree_node *node = &tree->nodes[i];
        if (node->used)
            node->context = find_context(reader, tree, node);
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

/* Returns the number of instructions that the thread has executed, or 0 if the file does not have
 * it. */
static uint64_t count_executed(const struct tree *tree) {
    const char *cause = NULL;
    if (!tree->parts->events_offset)
        return 0;
    uint64_t count = tree->parts->events_base;
    const uint64_t *lanes = data_reader_bytes(tree->reader, tree->parts->events_offset,
                                              QUIPU_CALL_LANES * sizeof *lanes, &cause);
    if (!lanes)
        die_unread(tree->process, cause);
    for (uint32_t i = 0; i < QUIPU_CALL_LANES; i++)
        count += __atomic_load_n(&lanes[i], __ATOMIC_RELAXED);
    return count;
}

static void read_part(struct reader *reader, struct tree *tree, const struct data_contexts *part) {
    const char *cause = NULL;
    if (!part->count)
        return;
    const struct quipu_context *nodes =
        data_reader_bytes(tree->reader, part->nodes_offset, part->count * sizeof *nodes, &cause);
    if (!nodes)
        die_unread(tree->process, cause);
    for (uint32_t i = 0; i < part->count; i++)
        read_node(reader, tree, part->first_index + i, &nodes[i]);
}

static void check_parts(struct tree *tree) {
    uint64_t expected = 0;
    for (size_t i = 0; i < tree->part_count; i++) {
        if (tree->parts[i].first_index != expected)
            tree->damage = "do not follow each other";
        expected += tree->parts[i].capacity;
    }
}

static void read_nodes(struct reader *reader, struct tree *tree, struct arena *arena) {
    const struct data_contexts *last = &tree->parts[tree->part_count - 1];
    tree->size = (uint64_t)last->first_index + last->count;
    tree->nodes = ARENA_ARRAY(arena, struct tree_node, tree->size);
    tree->instructions = count_executed(tree);
    for (size_t i = 0; i < tree->part_count && !tree->damage; i++)
        read_part(reader, tree, &tree->parts[i]);
}

static void note_copied(struct reader *reader, const struct process *process) {
    reader->more_copied |= reader->copied && reader->copied != process;
    if (!reader->copied)
        reader->copied = process;
}

static void read_tree(struct reader *reader, struct tree *tree) {
    struct arena scratch = {0};
    check_parts(tree);
    if (!tree->damage)
        read_nodes(reader, tree, &scratch);
    if (tree->damage) {
        leave_out(reader, tree);
    } else {
        set_exclusive(tree);
        if (reader->by_thread)
            tree->root = add_root(reader->contexts, tree);
        add_tree(reader, tree);
    }
    if (tree->parts->flags & QUIPU_CALL_TREE_COPIED)
        note_copied(reader, tree->process);
    if (tree->parts->flags & QUIPU_CALL_TREE_MERGED)
        warn("'%s': thread %" PRIu32 " had more paths of calls than there was room for; the last "
             "ones are counted in those that called them",
             tree->process->file, tree->parts->owner);
    arena_release(&scratch);
}

/* ---- all trees ---- */

static int compare_parts(const void *left, const void *right) {
    const struct data_contexts *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->first_index < b->first_index ? -1 : a->first_index > b->first_index;
}

static void read_process(struct reader *reader, const struct process *process) {
    size_t count = process->data->contexts.count;
    if (!count)
        return;
    struct arena scratch = {0};
    struct data_reader file;
    const char *cause = data_reader_open(&file, process->data);
    if (cause)
        die_unread(process, cause);
    struct data_contexts *parts =
        arena_grow(&scratch, process->data->contexts.data, count, count, sizeof *parts);
    qsort(parts, count, sizeof *parts, compare_parts);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && parts[end].thread == parts[first].thread;)
            end++;
        struct tree tree = {
            .process = process, .reader = &file, .parts = parts + first, .part_count = end - first};
        if (!reader->selection.owner || reader->selection.owner == tree.parts->owner)
            read_tree(reader, &tree);
    }
    data_reader_close(&file);
    arena_release(&scratch);
}

static bool is_selected(const struct process *process, struct selection selection) {
    return !selection.process || selection.process == process;
}

void contexts_read(struct profile *profile, struct selection selection, bool by_thread,
                   struct contexts *contexts) {
    memset(contexts, 0, sizeof *contexts);
    struct reader reader = {
        .contexts = contexts, .profile = profile, .selection = selection, .by_thread = by_thread};
    places_begin(&contexts->places, &contexts->arena, profile);
    vector_push(&contexts->arena, &contexts->nodes, ((struct context){.parent = 0}));
    for (size_t i = 0; i < profile->processes.count; i++) {
        report_progress("calls", i, profile->processes.count);
        if (is_selected(&profile->processes.data[i], selection))
            read_process(&reader, &profile->processes.data[i]);
    }
    report_progress("calls", profile->processes.count, profile->processes.count);
    if (reader.copied)
        warn(
            "'%s'%s: a thread copied its process by clone or _Fork, of which quipu is not told; what "
            "the copy did is counted as that thread's, and its calls are not told apart",
            reader.copied->file, reader.more_copied ? " and others" : "");
    if (reader.activations)
        warn("%" PRIu32
             " calls had not returned, and what their threads had executed is not known: "
             "their instructions are left out",
             reader.activations);
}

void contexts_release(struct contexts *contexts) {
    arena_release(&contexts->arena);
}

uint64_t contexts_count(const struct process *process) {
    uint64_t count = 0;
    for (size_t i = 0; i < process->data->contexts.count; i++) {
        const struct data_contexts *part = &process->data->contexts.data[i];
        count += part->count - (part->count && !part->first_index);
    }
    return count;
}

bool contexts_here(const struct profile *profile, struct selection selection) {
    for (size_t i = 0; i < profile->processes.count; i++)
        if (is_selected(&profile->processes.data[i], selection) &&
            profile->processes.data[i].data->contexts.count)
            return true;
    return false;
}

void contexts_need(struct profile *profile, struct selection selection, bool by_thread,
                   struct contexts *contexts) {
    if (!contexts_here(profile, selection))
        die("'%s': it holds no calling contexts; build the program with 'quipu cc --quipu=calls' "
            "and run it again",
            profile->processes.count ? profile->processes.data[0].file : "the data");
    contexts_read(profile, selection, by_thread, contexts);
}

/* ---- calls ---- */

/* The key of a call; all its bytes count. */
struct call_key {
    uint32_t caller, site, callee;
};

static uint32_t find_caller(const struct contexts *contexts, const struct context *node,
                            enum caller_kind kind) {
    uint32_t of_site = vector_at(&contexts->places.sites, node->site)->function;
    return of_site && kind == CALLER_OF_SITE ? of_site
                                             : vector_at(&contexts->nodes, node->parent)->function;
}

/* Adds the instructions of NODE to CALL, unless a call above it has counted them already. */
static void add_instructions(const struct contexts *contexts, const struct context *node,
                             enum caller_kind kind, struct call *call) {
    bool same_call = false, same_callee = false;
    for (uint32_t above = node->parent; above && !same_call;) {
        const struct context *outer = vector_at(&contexts->nodes, above);
        bool callee = outer->function == node->function;
        same_callee |= callee;
        same_call |= callee && outer->site == node->site &&
                     find_caller(contexts, outer, kind) == call->caller;
        above = outer->parent;
    }
    if (!same_call)
        call->inclusive += node->inclusive;
    if (!same_callee)
        call->outermost += node->inclusive;
}

call_vector contexts_calls(struct arena *arena, const struct contexts *contexts,
                           enum caller_kind kind) {
    call_vector calls = {0};
    struct map numbers = {0};
    struct arena scratch = {0};
    for (size_t i = 1; i < contexts->nodes.count; i++) {
        const struct context *node = &contexts->nodes.data[i];
        struct call_key *key = ARENA_NEW(&scratch, struct call_key);
        *key = (struct call_key){find_caller(contexts, node, kind), node->site, node->function};
        uint32_t fresh = (uint32_t)calls.count;
        uint32_t number = *map_add(&scratch, &numbers, (const char *)key, sizeof *key, fresh);
        if (number == fresh)
            vector_push(arena, &calls,
                        ((struct call){key->caller, node->site, node->function, 0, 0, 0}));
        struct call *call = vector_at(&calls, number);
        call->calls += node->calls;
        add_instructions(contexts, node, kind, call);
    }
    arena_release(&scratch);
    return calls;
}
