/* context_thread.c: threads and modules that get a calling context tree, and forked children.
 *
 * All modules of a process share a thread's tree, and one of them has the lead: the one whose
 * function is at the top.  Its cell goes on while what the others hold stands still, so
 * cell + base is what the thread has counted.
 *
 * A thread's state is its own memory and is handed to another thread once the thread is gone, as
 * cells are (slot.c).  Not perfect: a thread that has the number and the thread pointer of one that
 * is gone goes on where that one was; of more than CONTEXT_MODULES modules the last have no part in
 * trees; where a signal comes while the thread goes from module to module, the handler's functions
 * do not enter the tree. */
#include "context.h"
#include "syscall.h"

#include <errno.h>

enum {
    PROBES = 8
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

static uint64_t own_pointer(void) {
    return (uint64_t)__builtin_thread_pointer();
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
    while (thread && (thread->owner != owner || thread->self != own_pointer()))
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

static void lead(struct context_thread *thread, struct context_module *module) {
    thread->module = module;
    thread->cells = module->cells;
    thread->chunks[0]->events_base = thread->base;
    thread->chunks[0]->events_cell = module->place;
    *module->pointer = thread;
}

void quipu_switch_module(struct context_thread *thread, struct context_module *module) {
    if (module == thread->module)
        return;
    thread->switching = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *thread->module->pointer = NULL;
    thread->base += sum_cells(thread->module->cells) - sum_cells(module->cells);
    lead(thread, module);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->switching = false;
}

struct context_module *quipu_own_module(struct context_thread *thread) {
    for (uint32_t i = 0; i < thread->module_count; i++)
        if (thread->modules[i].pointer == &quipu_context)
            return &thread->modules[i];
    return NULL;
}

/* NULL: there are too many. */
static struct context_module *add_module(struct context_thread *thread) {
    struct context_module *module = quipu_own_module(thread);
    if (!module && thread->module_count < CONTEXT_MODULES)
        module = &thread->modules[thread->module_count++];
    if (!module)
        return NULL;
    module->pointer = &quipu_context;
    module->cells = own_block()->cells[QUIPU_EVENT_INSTRUCTIONS];
    module->place = place_in_file(module->cells);
    return module;
}

/* ---- threads ---- */

/* All that it was in has ended, with what its cells hold now. */
static void finish_thread(struct context_thread *thread) {
    struct quipu_context *root = thread->root.opened;
    while (thread->current != &thread->root)
        quipu_leave_link(thread);
    if (root->depth == 0)
        return;
    root->inclusive += context_now(thread);
    root->depth = 0;
}

void quipu_end_contexts(uint32_t owner) {
    for (struct context_thread *thread = first_thread(); thread; thread = thread->next)
        if (thread->owner == owner)
            finish_thread(thread);
}

static void begin_root(struct context_thread *thread) {
    struct quipu_context *root = &thread->chunks[0]->nodes[0];
    thread->root =
        (struct context_link){.stack = UINT64_MAX - ACROSS, .call = root, .opened = root};
    thread->current = &thread->root;
    root->depth = 1;
    root->inclusive -= context_now(thread);
}

/* The lock is held. */
static long make_thread(struct context_thread **made, uint32_t owner) {
    struct context_thread *thread = map_memory(NULL, sizeof *thread, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (is_error(thread))
        return (long)thread;
    thread->owner = owner;
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

/* A state for the calling thread, as new.  The lock is held. */
static long take_thread(struct context_thread **taken) {
    uint32_t owner = own_number();
    struct context_thread *thread = find_abandoned(owner);
    long error = 0;
    if (thread)
        finish_thread(thread);
    else
        error = make_thread(&thread, owner);
    if (!thread)
        return error;
    thread->owner = owner;
    thread->self = own_pointer();
    thread->base = 0;
    thread->module_count = 0;
    for (uint32_t i = 0; i < thread->chunk_count; i++)
        thread->chunks[i]->owner = owner;
    lead(thread, add_module(thread));
    thread->crossing = thread->crossings;
    begin_root(thread);
    thread->chunks[0]->nodes[0].calls++;
    *taken = thread;
    return 0;
}

/* The thread comes into this module for the first time.  Signals are blocked. */
static struct context_thread *come_in(void) {
    long error = 0;
    struct context_thread *thread;
    quipu_lock(quipu_state.file);
    thread = find_made(own_number());
    if (!thread)
        error = take_thread(&thread);
    quipu_unlock(quipu_state.file);
    if (error < 0) {
        given_up = true;
        quipu_warn("extend", false, -error, "calls are not told apart in some threads");
        return NULL;
    }
    if (add_module(thread))
        quipu_context_known = thread;
    return quipu_context_known;
}

/* In executables functions do not ask for the thread's cells themselves. */
struct context_thread *quipu_find_context(void) {
    if (quipu_bias == QUIPU_UNATTACHED)
        quipu_attach_thread();
    if (quipu_context_known)
        return quipu_context_known;
    if (__atomic_load_n(&quipu_state.phase, __ATOMIC_ACQUIRE) != PHASE_READY || given_up)
        return NULL;
    uint64_t mask = block_signals();
    struct context_thread *thread = quipu_context_known; /* a handler may have come before us */
    if (!thread && quipu_state.phase == PHASE_READY)
        thread = come_in();
    restore_signals(mask);
    return thread;
}

/* ---- forked children ---- */

/* The links that the thread has come by lead to nodes of a new tree, with nothing counted; the old
 * nodes are still there.  Crossings are of these links, and remain. */
static void copy_way(struct context_thread *thread) {
    struct context_link *way = NULL;
    for (struct context_link *link = thread->current; link != &thread->root; link = link->from) {
        link->next = way;
        way = link;
    }
    begin_root(thread);
    for (struct context_link *link = way, *next; link; link = next) {
        bool opens;
        struct quipu_context *node =
            quipu_find_child(thread, link->from->opened, link->site, link->opened->callee, &opens);
        next = link->next;
        link->call = link->opened = node && opens ? node : &thread->nowhere;
        quipu_add_link(thread, link);
        quipu_enter_link(thread, link, link->stack);
    }
}

/* The cells of all modules are new, and hold nothing. */
static long begin_child(struct context_thread *thread) {
    struct quipu_contexts *chunks[CONTEXT_CHUNKS];
    uint32_t count = thread->chunk_count;
    for (uint32_t i = 0; i < count; i++)
        chunks[i] = thread->chunks[i];
    thread->owner = own_number();
    thread->next = NULL;
    thread->base = 0;
    quipu_clear_table(thread);
    quipu_lock(quipu_state.file);
    long error = quipu_begin_tree(thread);
    quipu_unlock(quipu_state.file);
    if (error < 0)
        return error;
    thread->chunks[0]->thread = 1;
    quipu_state.file->contexts = (uint64_t)thread;
    lead(thread, thread->module);
    copy_way(thread);
    for (uint32_t i = 0; i < count; i++)
        SYSTEM_CALL(munmap, chunks[i], chunks[i]->chunk.size, 0, 0, 0, 0);
    return 0;
}

void quipu_fork_contexts(void) {
    struct context_thread *thread = quipu_context_known;
    hand = NULL;
    if (!thread)
        return;
    struct context_module *own = quipu_own_module(thread);
    long error = quipu_state.phase == PHASE_READY ? 0 : -EIO;
    own->place = error ? 0 : place_in_file(own->cells);
    if (thread->module != own)
        return; /* another module sees to it */
    if (error == 0) {
        error = begin_child(thread);
        if (error < 0)
            quipu_warn("extend", false, -error, "calls of a forked process are not told apart");
    }
    if (error < 0)
        quipu_context = quipu_context_known = NULL;
}
