/* thread.c: the state of threads and modules for calling context trees, and forked children.
 *
 * All modules of a process share a thread's tree. The module of the innermost function leads: only
 * its cells change, so cells + base is the thread's count.
 *
 * A thread's state is the thread's own memory. When the thread is gone it is reused for another
 * one, like cells (core/slot.c). Not perfect: above CONTEXT_MODULES modules, the last ones take no
 * part in trees. If a signal arrives while the thread moves from one module to another, the
 * handler's functions do not enter the tree.
 *
 * A child of _Fork, or of clone without CLONE_VM, has the same chunks mapped as its parent, and
 * runs no handler. Neither of the two knows chunks that the other adds. So the child abandons the
 * tree as soon as it calls this code. It recognizes this by a page that the kernel clears at each
 * fork (MADV_WIPEONFORK). */
#include "format/calls.h"
#include "format/cells.h"
#include "format/data_file.h"
#include "format/event.h"
#include "runtime/calls/calls.h"
#include "runtime/core/syscall.h"

#include <errno.h>

enum {
    PROBES = 8,
    BEGINNING = 1, /* the count of a new thread */
};

static bool given_up; /* there was no room for a thread: do not try again for others */
static struct context_thread *hand; /* where the search for an abandoned state continues */

/* The head of the list of all threads' states is in the file's header, which all modules map. */
static struct context_thread *first_thread(void) {
    return (void *)quipu_state.file->contexts;
}

static uint32_t own_number(void) {
    return (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
}

/* Whether the process is a copy for which no fork handler ran, or a child of vfork. Then the list
 * of threads is the other process's. */
static bool is_copied(void) {
    return (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0) != quipu_state.pid;
}

/* Returns the state of a thread that is gone, or NULL. Tests a few threads, and the next ones
 * another time. */
static struct context_thread *find_abandoned(uint32_t owner) {
    for (int i = 0; i < PROBES; i++) {
        hand = hand && hand->next ? hand->next : first_thread();
        if (!hand || hand->owner == owner || quipu_is_dead(hand->owner))
            return hand;
    }
    return NULL;
}

/* Returns the calling thread's state if another module has made it. */
static struct context_thread *find_made(uint32_t owner) {
    struct context_thread *thread = first_thread();
    while (thread && (thread->owner != owner || thread->self != thread_pointer()))
        thread = thread->next;
    return thread;
}

static uint64_t count_trees(void) {
    uint64_t count = 0;
    for (struct context_thread *thread = first_thread(); thread; thread = thread->next)
        count++;
    return count;
}

/* ---- Modules ---- */

/* Returns the offset of the cells in the file, or 0 if they are not in it. */
static uint64_t place_in_file(const uint64_t *cells) {
    for (uint32_t i = 0; i < quipu_state.block_count; i++) {
        const struct quipu_blocks *blocks = quipu_state.blocks[i];
        uint64_t within = (uint64_t)cells - (uint64_t)blocks;
        if (within < blocks->chunk.size)
            return quipu_place_of(blocks)->offset + within;
    }
    return 0;
}

/* Makes MODULE lead. CURRENT is the thread's current link, and NOW its count. */
static void lead(struct context_thread *thread, struct context_module *module,
                 struct context_link *current, uint64_t now) {
    struct context_words *words = module->words;
    thread->module = module;
    thread->cells = module->cells;
    thread->base = now - sum_cells(module->cells);
    thread->chunks[0]->events_base = thread->base;
    thread->chunks[0]->events_cell = module->place;
    words->base = thread->base;
    words->recent = thread->recent;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    words->current = current;
}

void quipu_switch_module(struct context_thread *thread, struct context_module *module) {
    if (module == thread->module)
        return;
    thread->switching = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct context_link *current = current_link(thread);
    thread->module->words->current = NULL;
    lead(thread, module, current, context_now(thread));
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->switching = false;
}

/* Returns this module's entry in THREAD, or that of a closed module at the same address. */
static struct context_module *find_module(struct context_thread *thread) {
    for (uint32_t i = 0; i < thread->module_count; i++)
        if (thread->modules[i].known == &quipu_calls_words)
            return &thread->modules[i];
    return NULL;
}

/* Sets START and END to the bounds of this module's code. */
static void find_bounds(uint64_t *start, uint64_t *end) {
    *start = UINT64_MAX;
    *end = 0;
    for (uint64_t i = 0; i < range_count(); i++) {
        uint64_t first = range_start(&quipu_ranges_begin[i]);
        uint64_t last = first + quipu_ranges_begin[i].size;
        *start = *start < first ? *start : first;
        *end = *end > last ? *end : last;
    }
}

/* Makes THREAD find no links of modules that were where this one is, and find those of this one, if
 * it was there before. If all load numbers are in use, the last one does not say where. */
static void revise_links(struct context_thread *thread) {
    uint64_t start, end;
    if (thread->openings >= quipu_state.opening)
        return;
    find_bounds(&start, &end);
    if (start < end)
        quipu_revise_links(thread, start, end + 1,
                           quipu_state.load_number < QUIPU_LOADS_MAX - 1 ? own_mark() : 0);
}

/* Gives the calling thread words in this module. THREAD is its state. NULL: there are too many
 * modules. */
static struct context_module *add_module(struct context_thread *thread) {
    if (quipu_calls_words)
        return quipu_calls_words->module;
    struct context_module *module = find_module(thread);
    if (!module && thread->module_count < CONTEXT_MODULES)
        module = &thread->modules[thread->module_count++];
    if (!module)
        return NULL;
    module->words =
        IS_LINKED(quipu_find_segment_words) ? quipu_find_segment_words() : &module->room;
    module->known = &quipu_calls_words;
    module->cells = &own_block()->cells[quipu_first_cell(QUIPU_EVENT_INSTRUCTIONS)];
    module->place = place_in_file(module->cells);
    module->mark = own_mark();
    *module->words = (struct context_words){.cells = module->cells, .module = module};
    revise_links(thread);
    quipu_calls_words = module->words;
    return module;
}

/* ---- Threads ---- */

/* Ends all that the thread had entered, with the present count of its cells. Its words may be gone
 * with it, so the nodes show what was entered. */
static void finish_thread(struct context_thread *thread) {
    uint64_t now = context_now(thread);
    struct quipu_context *node = &thread->chunks[0]->nodes[0];
    while (node && is_entered(node)) {
        end_activation(node, now);
        node = quipu_entered_child(thread, node);
    }
}

void quipu_end_contexts(uint32_t owner) {
    if (is_copied())
        return;
    for (struct context_thread *thread = first_thread(); thread; thread = thread->next)
        if (thread->owner == owner)
            finish_thread(thread);
}

/* Puts the thread into MODULE, outside all functions. NOW is its count. */
static void begin_root(struct context_thread *thread, struct context_module *module, uint64_t now) {
    struct quipu_context *root = &thread->chunks[0]->nodes[0];
    thread->root = (struct context_link){.stack = UINT64_MAX - ACROSS, .node = root};
    lead(thread, module, &thread->root, now);
    root->inclusive -= now;
}

/* The caller holds the lock. */
static long make_thread(struct context_thread **made, uint32_t owner) {
    struct context_thread *thread = map_memory(NULL, sizeof *thread, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (is_error(thread))
        return (long)thread;
    thread->owner = owner;
    SYSTEM_CALL(madvise, &thread->process, QUIPU_PAGE, MADV_WIPEONFORK, 0, 0, 0);
    thread->process = quipu_state.pid;
    quipu_clear_table(thread);
    long error = quipu_begin_tree(thread);
    if (error < 0) {
        SYSTEM_CALL(munmap, thread, sizeof *thread, 0, 0, 0, 0);
        return error;
    }
    thread->chunks[0]->thread = count_trees() + 1;
    thread->next = first_thread();
    quipu_state.file->contexts = (uint64_t)thread;
    *made = thread;
    return 0;
}

/* Sets *TAKEN to a state for the calling thread: a new one, or the one in *TAKEN, which another
 * thread has left. The count continues from its last value, so that entered nodes are negative. The
 * caller holds the lock. */
static long take_thread(struct context_thread **taken) {
    uint32_t owner = own_number();
    struct context_thread *thread = *taken ? *taken : find_abandoned(owner);
    uint64_t now = BEGINNING;
    long error = 0;
    if (thread) {
        finish_thread(thread);
        now = context_now(thread);
        if (thread->openings != quipu_state.file->openings)
            quipu_reuse_links(thread);
    } else {
        error = make_thread(&thread, owner);
    }
    if (!thread)
        return error;
    thread->owner = owner;
    thread->self = thread_pointer();
    thread->module_count = 0;
    thread->switching = false;
    for (uint32_t i = 0; i < thread->chunk_count; i++)
        thread->chunks[i]->owner = owner;
    thread->crossing = thread->crossings;
    begin_root(thread, add_module(thread), now);
    thread->chunks[0]->nodes[0].calls++;
    *taken = thread;
    return 0;
}

/* Whether another thread with the calling thread's number and thread pointer left the state: then
 * that thread's words are gone, and thread-local storage is as new. */
static bool is_left(const struct context_thread *thread) {
    return !thread->switching && *thread->module->known != thread->module->words;
}

/* Handles the thread's first visit to this module. The caller has blocked signals. */
static struct context_thread *come_in(void) {
    long error = 0;
    struct context_thread *thread;
    quipu_lock(quipu_state.file);
    thread = find_made(own_number());
    if (!thread || is_left(thread))
        error = take_thread(&thread);
    quipu_unlock(quipu_state.file);
    if (error < 0) {
        given_up = true;
        quipu_warn("extend", false, -error, "calls are not told apart in some threads");
        return NULL;
    }
    struct context_module *module = add_module(thread);
    if (!module)
        return NULL;
    return module->words->thread = thread;
}

/* Leaves the tree in a copied process, for which no fork handler ran: the tree belongs to the other
 * process. */
static void leave_tree(struct context_thread *thread) {
    thread->module->words->current = NULL;
    quipu_calls_words->current = NULL;
    quipu_calls_words->thread = NULL;
    given_up = true;
    thread->chunks[0]->flags |= QUIPU_CALL_TREE_COPIED;
}

/* Returns the calling thread's state, if this module knows it. */
static struct context_thread *known_context(void) {
    return quipu_calls_words ? quipu_calls_words->thread : NULL;
}

struct context_thread *quipu_own_context(void) {
    struct context_thread *thread = known_context();
    if (!thread || thread->process)
        return thread;
    leave_tree(thread);
    return NULL;
}

/* In executables, functions do not test for the thread's cells themselves. */
struct context_thread *quipu_find_context(void) {
    if (*own_bias() == QUIPU_UNATTACHED)
        quipu_attach_thread();
    struct context_thread *thread = quipu_own_context();
    if (thread)
        return thread;
    if (__atomic_load_n(&quipu_state.phase, __ATOMIC_ACQUIRE) != PHASE_READY || given_up)
        return NULL;
    uint64_t mask = block_signals();
    thread = known_context(); /* a handler may have been here first */
    if (!thread && quipu_state.phase == PHASE_READY && !is_copied())
        thread = come_in();
    restore_signals(mask);
    return thread;
}

/* ---- Forked children ---- */

/* Makes the links of the current path lead to nodes of a new tree, with nothing counted. The old
 * nodes are still mapped. The crossings refer to these links, and stay. */
static void copy_path(struct context_thread *thread) {
    struct context_link *way = NULL;
    for (struct context_link *link = current_link(thread); link != &thread->root;
         link = link->from) {
        link->next = way;
        way = link;
    }
    begin_root(thread, thread->module, BEGINNING);
    for (struct context_link *link = way, *next; link; link = next) {
        bool opens;
        /* the child's file has other numbers of modules */
        const struct context_call call = {.site = link->site, .callee = link->node->callee};
        struct quipu_context *node = quipu_find_child(thread, link->from, &call, &opens);
        next = link->next;
        link->node = node && opens ? node : &thread->nowhere;
        quipu_add_link(thread, link);
        quipu_enter_link(thread, link, link->stack);
    }
}

/* The cells of all modules are new and empty. */
static long begin_child(struct context_thread *thread) {
    struct quipu_call_tree *chunks[CONTEXT_CHUNKS];
    uint32_t count = thread->chunk_count;
    for (uint32_t i = 0; i < count; i++)
        chunks[i] = thread->chunks[i];
    thread->owner = own_number();
    thread->process = quipu_state.pid;
    thread->next = NULL;
    quipu_clear_table(thread);
    quipu_lock(quipu_state.file);
    long error = quipu_begin_tree(thread);
    quipu_unlock(quipu_state.file);
    if (error < 0)
        return error;
    thread->chunks[0]->thread = 1;
    quipu_state.file->contexts = (uint64_t)thread;
    copy_path(thread);
    for (uint32_t i = 0; i < count; i++)
        SYSTEM_CALL(munmap, chunks[i], chunks[i]->chunk.size, 0, 0, 0, 0);
    return 0;
}

void quipu_fork_contexts(void) {
    struct context_thread *thread = known_context();
    hand = NULL;
    if (!thread)
        return;
    struct context_module *own = quipu_calls_words->module;
    long error = quipu_state.phase == PHASE_READY ? 0 : -EIO;
    own->place = error ? 0 : place_in_file(own->cells);
    own->mark = own_mark();
    if (thread->module != own)
        return; /* another module does it */
    if (error == 0) {
        error = begin_child(thread);
        if (error < 0)
            quipu_warn("extend", false, -error, "calls of a forked process are not told apart");
    }
    if (error < 0) {
        quipu_calls_words->current = NULL;
        quipu_calls_words->thread = NULL;
    }
}
