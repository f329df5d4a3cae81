/* calls.c: calling context trees; see calls.h and call_trees.h.
 *
 * Source: Ammons, Ball, Larus, "Exploiting hardware performance counters with flow and context
 * sensitive profiling", PLDI 1997, section 4.
 *
 *     processes -> trees of blocks of them, on all processors -> one tree    contexts_read
 *     paths -> calls by caller, site and callee                              contexts_calls
 *
 * Invariant: a parent precedes its children. */
#include "data/calls.h"

#include "data/call_trees.h"
#include "data/datafile.h"
#include "data/tasks.h"
#include "util/diag.h"

#include <inttypes.h>

/* Reading the trees of the selected processes. */
struct reading {
    const struct process **processes; /* that are selected */
    size_t count;
    struct call_trees *blocks; /* of consecutive processes */
    size_t *ends;              /* of the blocks, in `processes` */
    size_t block_count;
};

static bool is_selected(const struct process *process, struct selection selection) {
    return !selection.process || selection.process == process;
}

/* ---- blocks of processes ---- */

/* Divides the processes into blocks of about as many contexts, one for each worker. */
static void divide(struct arena *arena, struct reading *reading) {
    uint64_t total = 0, sum = 0;
    size_t block = 0;
    reading->block_count = count_workers(reading->count);
    reading->blocks = ARENA_ARRAY(arena, struct call_trees, reading->block_count);
    reading->ends = ARENA_ARRAY(arena, size_t, reading->block_count);
    for (size_t i = 0; i < reading->count; i++)
        total += contexts_count(reading->processes[i]);
    for (size_t i = 0; i < reading->count; i++) {
        if (sum * reading->block_count >= total * (block + 1) && block + 1 < reading->block_count)
            block++;
        reading->ends[block] = i + 1;
        sum += contexts_count(reading->processes[i]);
    }
    for (block++; block < reading->block_count; block++)
        reading->ends[block] = reading->count;
}

/* Is a task: reads the processes of block NUMBER. */
static const char *read_block(void *context, size_t worker, size_t number) {
    const struct reading *reading = context;
    const char *wrong = NULL;
    (void)worker;
    size_t first = number ? reading->ends[number - 1] : 0, end = reading->ends[number];
    for (size_t i = first; i < end && !wrong; i++) {
        report_progress("calls", i - first, end - first);
        wrong = call_trees_add(&reading->blocks[number], reading->processes[i]);
    }
    call_trees_end(&reading->blocks[number]);
    return wrong;
}

static void print_warnings(const struct call_trees *block) {
    for (size_t i = 0; i < block->warnings.count; i++)
        warn("%s", block->warnings.data[i]);
}

static void read_blocks(struct reading *reading) {
    size_t failed;
    const char *wrong = do_tasks(
        &(struct tasks){
            .count = reading->block_count, .few = true, .run = read_block, .context = reading},
        &failed);
    for (size_t i = 0; i < reading->block_count && i <= failed; i++)
        print_warnings(&reading->blocks[i]);
    if (wrong)
        die("%s", wrong);
    report_progress("calls", 1, 1);
}

/* ---- one tree of all blocks ---- */

static void add_counts(struct context *sum, const struct context *node) {
    sum->calls += node->calls;
    sum->inclusive += node->inclusive;
    sum->exclusive += node->exclusive;
}

/* Adds NODE, which is no root, and returns its number. In trees of threads it is a new one. */
static uint32_t add_node(struct call_trees *sum, struct context node) {
    struct contexts *contexts = &sum->contexts;
    uint32_t number = (uint32_t)contexts->nodes.count;
    if (sum->by_thread) {
        vector_push(&contexts->arena, &contexts->nodes, node);
        return number;
    }
    number = context_index_number(&sum->index, contexts, node.parent, node.site, node.function);
    add_counts(vector_at(&contexts->nodes, number), &node);
    return number;
}

static void add_nodes(struct call_trees *sum, const struct contexts *more, const uint32_t *places) {
    struct contexts *contexts = &sum->contexts;
    struct arena scratch = {0};
    uint32_t *numbers = ARENA_ARRAY(&scratch, uint32_t, more->nodes.count);
    for (size_t i = 1, root = 0; i < more->nodes.count; i++) {
        struct context node = more->nodes.data[i];
        if (root < more->roots.count && more->roots.data[root].node == i) {
            struct context_root copy = more->roots.data[root++];
            copy.node = numbers[i] = (uint32_t)contexts->nodes.count;
            vector_push(&contexts->arena, &contexts->roots, copy);
            vector_push(&contexts->arena, &contexts->nodes, node);
            continue;
        }
        node.parent = numbers[node.parent];
        node.site = places[node.site];
        node.function = places[node.function];
        numbers[i] = add_node(sum, node);
    }
    arena_release(&scratch);
}

/* Adds the trees of MORE, which come behind those of SUM, and releases them. Contexts and places
 * get the numbers that they would have if all had been read one after the other. */
static void add_block(struct call_trees *sum, struct call_trees *more) {
    struct arena scratch = {0};
    uint32_t *places = ARENA_ARRAY(&scratch, uint32_t, more->table.places.count);
    for (size_t i = 1; i < more->table.places.count; i++)
        places[i] = place_table_add(&sum->table, more->table.places.data[i]);
    add_nodes(sum, &more->contexts, places);
    sum->contexts.executed += more->contexts.executed;
    sum->contexts.trees += more->contexts.trees;
    sum->activations += more->activations;
    sum->more_copied |= more->more_copied || (sum->copied && more->copied);
    if (!sum->copied)
        sum->copied = more->copied;
    arena_release(&scratch);
    arena_release(&more->contexts.arena);
}

/* Finds what is at the places, and sets the contexts' sites and functions to their numbers. */
static void find_places(struct contexts *contexts, struct profile *profile,
                        const struct place_table *table) {
    struct arena scratch = {0};
    uint32_t *numbers = ARENA_ARRAY(&scratch, uint32_t, table->places.count);
    places_begin(&contexts->places, &contexts->arena, profile);
    for (size_t i = 1; i < table->places.count; i++)
        numbers[i] = places_number(&contexts->places, table->places.data[i]);
    for (size_t i = 1; i < contexts->nodes.count; i++) {
        struct context *node = &contexts->nodes.data[i];
        node->site = numbers[node->site];
        node->function = numbers[node->function];
    }
    arena_release(&scratch);
}

static void warn_of(const struct call_trees *sum) {
    if (sum->copied)
        warn(
            "'%s'%s: a thread copied its process by clone or _Fork, of which quipu is not told; what "
            "the copy did is counted as that thread's, and its calls are not told apart",
            sum->copied->file, sum->more_copied ? " and others" : "");
    if (sum->activations)
        warn("%" PRIu32
             " calls had not returned, and what their threads had executed is not known: "
             "their instructions are left out",
             sum->activations);
}

void contexts_read(struct profile *profile, struct selection selection, bool by_thread,
                   struct contexts *contexts) {
    struct arena scratch = {0};
    struct reading reading = {0};
    reading.processes = ARENA_ARRAY(&scratch, const struct process *, profile->processes.count);
    for (size_t i = 0; i < profile->processes.count; i++)
        if (is_selected(&profile->processes.data[i], selection))
            reading.processes[reading.count++] = &profile->processes.data[i];
    divide(&scratch, &reading);
    for (size_t i = 0; i < reading.block_count; i++) {
        struct call_trees *block = &reading.blocks[i];
        block->by_thread = by_thread;
        block->lenient = profile->processes.count > 1;
        block->owner = selection.owner;
        call_trees_begin(block);
    }
    read_blocks(&reading);
    struct call_trees *sum = &reading.blocks[0];
    for (size_t i = 1; i < reading.block_count; i++)
        add_block(sum, &reading.blocks[i]);
    warn_of(sum);
    *contexts = sum->contexts;
    find_places(contexts, profile, &sum->table);
    arena_release(&scratch);
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
