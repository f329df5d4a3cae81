/* fork.c: a forked child counts in a file of its own.
 *
 * The child's address space is a copy, but the mapped file is the parent's. So the child gets a new
 * file before it runs code of its own. The file is mapped at the old addresses, since a register of
 * an interrupted function may contain the address of a cell (fork in a signal handler). If there is
 * no new file, private memory replaces the old mapping, so the parent's counts never change.
 *
 * The constructor registers the handlers, so they are the innermost ones: the last before fork and
 * the first behind it. All signals are blocked in between.
 *
 * Not perfect: _Fork, and clone without CLONE_VM, run no handlers. Such a child continues to count
 * in the slot of the thread that made it. Increments of both may be lost while both run. A vfork
 * child shares the parent's memory and counts there, which is right. */
#include "format/cells.h"
#include "format/data_file.h"
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"

#include <errno.h>
#include <pthread.h>

enum {
    FORKS_MAX = 16
};

/* Signal masks of the threads that are forking. The thread pointer identifies a thread, since it is
 * the same in the child. */
static struct {
    uint64_t thread; /* 0: free */
    uint64_t mask;
} forks[FORKS_MAX];

/* If more threads fork at a time than there is room for, some fork with signals unblocked. */
static void prepare(void) {
    uint64_t mask = block_signals();
    for (size_t i = 0; i < FORKS_MAX; i++)
        if (__atomic_load_n(&forks[i].thread, __ATOMIC_RELAXED) == thread_pointer())
            return; /* nested: the outer call restores the mask */
    for (size_t i = 0; i < FORKS_MAX; i++) {
        uint64_t nobody = 0;
        if (__atomic_compare_exchange_n(&forks[i].thread, &nobody, thread_pointer(), false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            forks[i].mask = mask;
            return;
        }
    }
    restore_signals(mask);
}

static void parent(void) {
    for (size_t i = 0; i < FORKS_MAX; i++)
        if (__atomic_load_n(&forks[i].thread, __ATOMIC_RELAXED) == thread_pointer()) {
            uint64_t mask = forks[i].mask;
            __atomic_store_n(&forks[i].thread, 0, __ATOMIC_RELEASE);
            restore_signals(mask);
            return;
        }
}

static bool holds(const struct quipu_blocks *blocks, const char *cells) {
    return (uint64_t)cells - (uint64_t)blocks < blocks->chunk.size;
}

/* The cells of this thread and the chunk that contains them. The thread may have none. */
struct own {
    char *cells;
    struct quipu_blocks *blocks;
    uint64_t size; /* of the chunk */
};

static struct own find_own(void) {
    struct own own = {0};
    if (*own_bias() == QUIPU_UNATTACHED)
        return own;
    own.cells = quipu_cells_begin + *own_bias();
    for (uint32_t i = 0; i < quipu_state.block_count; i++)
        if (holds(quipu_state.blocks[i], own.cells)) {
            own.blocks = quipu_state.blocks[i];
            own.size = own.blocks->chunk.size;
        }
    return own;
}

/* Enters module and thread into the child's file, with the thread's cells at their old address. */
static long enter_child(const struct own *own) {
    long error = quipu_enter_module();
    if (error < 0 || !own->blocks)
        return error;
    uint64_t room = own->size - ((uint64_t)own->cells - (uint64_t)own->blocks);
    uint64_t count = room / quipu_slot_size();
    if (count > quipu_first_count())
        count = quipu_first_count();
    error = quipu_add_blocks(quipu_state.fd, (uint32_t)count, own->cells, own->blocks);
    if (error == 0) {
        struct quipu_slot *slot = &quipu_state.blocks[0]->slots[0];
        slot->owner = quipu_state.pid;
        slot->threads = 1;
    }
    return error;
}

/* Replaces a chunk by private memory. */
static void replace(void *chunk, uint64_t size) {
    map_memory(chunk, size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* The thread continues with the static cells, which no reader sees. Private memory replaces the
 * parent's cells, since a register may contain an address in them. If the kernel refuses even that
 * (a limit below the present use), code with such a register changes the parent's counts until the
 * interrupted function loads it again. */
static void leave_cells(const struct own *own) {
    if (!own->blocks)
        return;
    replace(own->blocks, own->size);
    set_distance(0);
}

static void unmap_others(const struct own *own) {
    for (uint32_t i = 0; i < quipu_state.block_count; i++) {
        struct quipu_blocks *blocks = quipu_state.blocks[i];
        if (blocks == own->blocks)
            continue;
        if (quipu_has_static_cells(blocks)) /* the static cells must stay */
            replace(blocks, blocks->chunk.size);
        else
            SYSTEM_CALL(munmap, blocks, blocks->chunk.size, 0, 0, 0, 0);
    }
    quipu_state.block_count = 0;
    quipu_state.hand = 0;
}

static void make_child_data(const struct own *own) {
    struct naming naming = {.directory = -1};
    long error = quipu_open_data(&naming);
    if (error == 0) {
        quipu_lock(quipu_state.file);
        error = enter_child(own);
        quipu_unlock(quipu_state.file);
    }
    if (error == 0)
        error = quipu_publish_data(&naming);
    if (error < 0) {
        bool shared = quipu_state.file->pid == quipu_state.pid && !naming.fresh;
        leave_cells(own);
        if (!shared)
            quipu_drop_data();
        quipu_warn("write", true, -error, "the counts of a forked process are lost");
        quipu_state.phase = PHASE_NO_FILE;
    }
    quipu_close_data(&naming);
}

static void child(void) {
    uint32_t pid = (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0);
    if (pid != quipu_state.pid && quipu_state.phase == PHASE_READY) {
        quipu_state.pid = pid;
        quipu_state.fd = 0; /* another thread may have been extending the file */
        struct own own = find_own();
        if (!own.blocks)
            *own_bias() = QUIPU_UNATTACHED; /* there was no slot; the new file has one */
        unmap_others(&own);
        /* The handler of another module may have found that there can be no file. */
        if (quipu_state.file->pid == pid && !quipu_has_data(quipu_state.file)) {
            leave_cells(&own);
            quipu_state.phase = PHASE_NO_FILE;
        } else {
            make_child_data(&own);
        }
        if (IS_LINKED(quipu_fork_contexts))
            quipu_fork_contexts();
    }
    parent();
    for (size_t i = 0; i < FORKS_MAX; i++)
        forks[i].thread = 0; /* the other threads are not in the child */
}

void quipu_follow_forks(void) {
    int error = pthread_atfork(prepare, parent, child);
    if (error)
        quipu_warn("follow the forks of", false, error,
                   "a forked process counts as a thread of its parent");
}
