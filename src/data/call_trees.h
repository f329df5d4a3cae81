/* call_trees.h: the calling context trees of some processes, as they are read from data files. */
#ifndef QUIPU_DATA_CALL_TREES_H
#define QUIPU_DATA_CALL_TREES_H

#include "data/context_index.h"
#include "data/place_table.h"

/* The trees of consecutive processes, which one worker reads. Sites and functions of the contexts
 * are numbers in the table. */
struct call_trees {
    struct contexts contexts; /* without places */
    struct context_index index;
    struct place_table table;     /* in the arena of the contexts */
    text_vector warnings;         /* in the order of the trees */
    uint32_t activations;         /* activations whose end is unknown */
    const struct process *copied; /* the first process of which a copy had a tree, too */
    bool more_copied;
    bool by_thread;          /* each thread has a root of its own */
    bool lenient;            /* a damaged tree is left out with a warning */
    uint32_t owner;          /* only threads with this id; 0: all */
    struct tree_node *nodes; /* of the tree that is read */
    size_t capacity;
};

void call_trees_begin(struct call_trees *trees);

/* Adds the trees of PROCESS. Returns NULL or an error message, which names its file. */
const char *call_trees_add(struct call_trees *trees, const struct process *process);

/* Releases all except the contexts, which have the arena. */
void call_trees_end(struct call_trees *trees);

#endif
