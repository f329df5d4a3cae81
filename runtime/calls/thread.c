/* thread.c: threads and modules that get a calling context tree, and forked children.
 *
 * All modules of a process share a thread's tree, and one of them has the lead: the one whose
 * function is at the top.  Its cell goes on while what the others hold stands still, so
 * cell + base is what the thread has counted.
 *
 * A thread's state is its own memory and is handed to another thread once the thread is gone, as
 * cells are (core/slot.c).  Not perfect: of more than CONTEXT_MODULES modules the last have no part
 * in trees; where a signal comes while the thread goes from module to module, the handler's
 * functions do not enter the tree.
 *
 * A child of _Fork, or of clone without CLONE_VM, has the same chunks mapped as its parent, and
 * runs no handler.  Chunks that one of both adds the other does not know, so the child leaves the
 * tree as soon as it comes here: a page that the kernel wipes at each fork tells (MADV_WIPEONFORK).
 */
#include "format/calls.h"
#include "format/cells.h"
#include "format/data_file.h"
#include "format/event.h"
#include "runtime/calls/calls.h"
#include "runtime/core/syscall.h"

#include <errno.h>

enum {
    PROBES = 8,
    BEGINNING = 1, /* what a thread has counted when it begins */
};

static bool given_up;               /* there was no room for a thread: no other one asks */
static struct context_thread *hand; /* at which the search for one that is gone goes on */

/* The head of the list of all threads' states stands in the file's header, which all modules map.
 */
static struct context_thread *first_thread(void) {
    return (void *)quipu_state.file->contexts;
}

static uint32_t own_number(void) {
    return (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
}

/* Whether the process is a copy that no handler of fork's heard of, or a child of vfork.  The list
 * of threads is the other's then. */
static bool is_copied(void) {
    return (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0) != quipu_state.pid;
}

/* The state of a thread that is gone, or NULL.  A few are asked, and the next ones another time. */
static struct context_thread *find_abandoned(uint32_t owner) {
    for (int i = 0; i < PROBES; i++) {
        hand = hand && hand->next ? hand->next : first_thread();
        if (!hand || hand->owner == owner || quipu_is_dead(hand->owner))
            return hand;
    }
    return NULL;
}

/* The calling thread's, which another module has made. */
static struct context_thread *find_made(uint32_t owner) {
    struct context_thread *thread = first_thread();
    while (thread && (thread->owner != owner || thread->self != thread_pointer()))
        thread = thread->next;
    return thread;
}

static uint64_t count_threads(void) {
    uint64_t count = 0;
    for (struct context_thread *thread = first_thread(); thread; thread = thread->next)
        count++;
    return count;
}

/* ---- modules ---- */

/* Where the file has the cells; 0: nowhere. */
static uint64_t place_in_file(const uint64_t *cells) {
    for (uint32_t i = 0; i < quipu_state.block_count; i++) {
        const struct quipu_blocks *blocks = quipu_state.blocks[i];
        uint64_t within = (uint64_t)cells - (uint64_t)blocks;
        if (within < blocks->chunk.size)
            return quipu_place_of(blocks)->offset + within;
    }
    return 0;
}

/* MODULE has the lead: CURRENT is the thread's current link, and NOW what it has counted. */
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

/* This module's, of THREAD's; or that of one which was here before, and is closed. */
static struct context_module *find_module(struct context_thread *thread) {
    for (uint32_t i = 0; i < thread->module_count; i++)
        if (thread->modules[i].known == &quipu_calls_words)
            return &thread->modules[i];
    return NULL;
}

/* The calling thread has words here from now on, in THREAD, its state.  NULL: there are too many
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
    *module->words = (struct context_words){.cells = module->cells, .module = module};
    quipu_calls_words = module->words;
    return module;
}

/* ---- threads ---- */

/* All that it was in has ended, with what its cells hold now.  Its words are gone with it, so nodes
 * tell what that is. */
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

/* The thread is in MODULE, and in no function; NOW is what it has counted. */
static void begin_root(struct context_thread *thread, struct context_module *module, uint64_t now) {
    struct quipu_context *root = &thread->chunks[0]->nodes[0];
    thread->root = (struct context_link){.stack = UINT64_MAX - ACROSS, .node = root};
    lead(thread, module, &thread->root, now);
    root->inclusive -= now;
}

/* The lock is held. */
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
    thread->chunks[0]->thread = count_threads() + 1;
    thread->next = first_thread();
    quipu_state.file->contexts = (uint64_t)thread;
    *made = thread;
    return 0;
}

/* A state for the calling thread, as new; or *TAKEN, which another thread has left.  What was
 * counted goes on from where it was, so that all that is entered is below zero.  The lock is held.
 */
static long take_thread(struct context_thread **taken) {
    uint32_t owner = own_number();
    struct context_thread *thread = *taken ? *taken : find_abandoned(owner);
    uint64_t now = BEGINNING;
    long error = 0;
    if (thread) {
        finish_thread(thread);
        now = context_now(thread);
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

/* Whether another thread left it, with the same number and thread pointer as the calling one: that
 * thread's words are gone, and thread-local storage is as new. */
static bool is_left(const struct context_thread *thread) {
    return !thread->switching && *thread->module->known != thread->module->words;
}

/* The thread comes into this module for the first time.  Signals are blocked. */
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

/* The process is a copy of the thread's, and no handler of fork's has run: the tree is the other's.
 */
static void leave_tree(struct context_thread *thread) {
    thread->module->words->current = NULL;
    quipu_calls_words->current = NULL;
    quipu_calls_words->thread = NULL;
    given_up = true;
    thread->chunks[0]->flags |= QUIPU_CALL_TREE_COPIED;
}

/* The calling thread's state, if it is known here. */
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

/* In executables functions do not ask for the thread's cells themselves. */
struct context_thread *quipu_find_context(void) {
    if (*own_bias() == QUIPU_UNATTACHED)
        quipu_attach_thread();
    struct context_thread *thread = quipu_own_context();
    if (thread)
        return thread;
    if (__atomic_load_n(&quipu_state.phase, __ATOMIC_ACQUIRE) != PHASE_READY || given_up)
        return NULL;
    uint64_t mask = block_signals();
    thread = known_context(); /* a handler may have come before us */
    if (!thread && quipu_state.phase == PHASE_READY && !is_copied())
        thread = come_in();
    restore_signals(mask);
    return thread;
}

/* ---- forked children ---- */

/* The links that the thread has come by lead to nodes of a new tree, with nothing counted; the old
 * nodes are still there.  Crossings are of these links, and remain. */
static void copy_way(struct context_thread *thread) {
    struct context_link *way = NULL;
    for (struct context_link *link = current_link(thread); link != &thread->root;
         link = link->from) {
        link->next = way;
        way = link;
    }
    begin_root(thread, thread->module, BEGINNING);
    for (struct context_link *link = way, *next; link; link = next) {
        bool opens;
        struct quipu_context *node =
            quipu_find_child(thread, link->from->node, link->site, link->node->callee, &opens);
        next = link->next;
        link->node = node && opens ? node : &thread->nowhere;
        quipu_add_link(thread, link);
        quipu_enter_link(thread, link, link->stack);
    }
}

/* The cells of all modules are new, and hold nothing. */
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
    copy_way(thread);
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
    if (thread->module != own)
        return; /* another module sees to it */
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
