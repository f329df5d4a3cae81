/* slot.c: cells for a thread.
 *
 * A thread requests cells when it first runs a function of this module. It gets, in this order,
 *   1. the slot with its thread number: its own, or that of a dead thread with the same number,
 *   2. a slot whose owner is dead. The search proceeds like a clock's hand, and stops after PROBES
 *      system calls. So there are not many more slots than living threads, and the time of an
 * attach does not depend on their number,
 *   3. a slot that never had an owner,
 *   4. a slot in a new chunk, which doubles the number of slots.
 * If all fail, the thread counts in memory that no reader sees, with a warning.
 *
 * A slot gets no new owner while its owner lives. quipu asks the kernel for that, which forgets a
 * thread's number only when the thread has executed its last instruction. */
#include "format/cells.h"
#include "format/data_file.h"
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"

#include <errno.h>

enum {
    PROBES = 8
};

struct found {
    struct quipu_slot *slot;
    char *cells;
};

static struct found slot_at(uint32_t index) {
    for (uint32_t i = 0; i < quipu_state.block_count; i++) {
        struct quipu_blocks *blocks = quipu_state.blocks[i];
        if (index < blocks->slot_count)
            return (struct found){&blocks->slots[index], (char *)blocks + blocks->cells_offset +
                                                             index * blocks->slot_size};
        index -= blocks->slot_count;
    }
    return (struct found){0};
}

/* Finds the slot that OWNER has or had. Sets *USED to the number of slots that ever had an owner,
 * which come first, and *TOTAL to the number of all. */
static struct found find_owned(uint32_t owner, uint32_t *used, uint32_t *total) {
    struct found found = {0};
    *used = *total = 0;
    for (uint32_t i = 0; i < quipu_state.block_count; i++) {
        struct quipu_blocks *blocks = quipu_state.blocks[i];
        for (uint32_t j = 0; j < blocks->slot_count && blocks->slots[j].owner; j++) {
            *used = *total + j + 1;
            if (blocks->slots[j].owner == owner)
                found = slot_at(*total + j);
        }
        *total += blocks->slot_count;
    }
    return found;
}

bool quipu_is_dead(uint32_t owner) {
    if (owner == QUIPU_OWNER_UNKNOWN || owner == quipu_state.pid)
        return false; /* the first thread's number stays in use until the process ends */
    return SYSTEM_CALL(tgkill, quipu_state.pid, owner, 0, 0, 0, 0) == -ESRCH;
}

static struct found find_abandoned(uint32_t used) {
    for (uint32_t i = 0; i < used && i < PROBES; i++) {
        if (quipu_state.hand >= used)
            quipu_state.hand = 0;
        struct found found = slot_at(quipu_state.hand++);
        if (quipu_is_dead(found.slot->owner))
            return found;
    }
    return (struct found){0};
}

/* Adds slots: as many as there are or, if that fails, one. */
static long add_slots(uint32_t total) {
    long fd = quipu_borrow_data();
    if (fd < 0)
        return fd;
    uint32_t first = quipu_first_count(), count = total > first ? total : first;
    long error = quipu_add_blocks((int)fd, count, NULL, NULL);
    if (error < 0 && count > 1)
        error = quipu_add_blocks((int)fd, 1, NULL, NULL);
    quipu_return_data((int)fd);
    return error;
}

char *quipu_take_slot(long *error) {
    uint32_t used, total;
    uint32_t owner = (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
    /* A vfork child uses its parent's stack and thread-local memory. */
    if ((uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0) != quipu_state.pid)
        owner = QUIPU_OWNER_UNKNOWN;
    struct found found = find_owned(owner, &used, &total);
    if (found.slot && owner != QUIPU_OWNER_UNKNOWN)
        return found.cells;
    found = find_abandoned(used);
    *error = found.slot || used < total ? 0 : add_slots(total);
    if (*error < 0)
        return NULL;
    if (!found.slot)
        found = slot_at(used);
    if (!found.slot) {
        *error = -EIO; /* the program has overwritten the table */
        return NULL;
    }
    if (IS_LINKED(quipu_end_contexts) && found.slot->owner)
        quipu_end_contexts(found.slot->owner);
    quipu_begin_events(found.cells);
    found.slot->threads++;
    found.slot->owner = owner;
    return found.cells;
}

/* The thread counts in the static cells. If the kernel refuses even that (a sandbox without
 * arch_prctl), it continues in the cells to which %gs leads, those of the thread that made it, and
 * never tries again. */
static void use_static_cells(void) {
    if (set_distance(0) < 0)
        *own_bias() = 0;
}

/* The static cells may belong to the first thread. So threads without slots share other cells. If
 * there is no memory for these, the first thread's counts become wrong, too. */
static void use_lost_cells(void) {
    static char *lost;
    char *cells = __atomic_load_n(&lost, __ATOMIC_ACQUIRE), *nobody = NULL;
    uint64_t size = quipu_slot_size();
    if (!cells) {
        cells = quipu_map_cells(size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (is_error(cells)) {
            use_static_cells();
            return;
        }
        if (!__atomic_compare_exchange_n(&lost, &nobody, cells, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            SYSTEM_CALL(munmap, cells, size, 0, 0, 0, 0);
            cells = nobody;
        }
    }
    if (set_distance((uint64_t)cells - (uint64_t)quipu_cells_begin) < 0)
        use_static_cells();
}

/* Gives the thread its own cells or, if that fails, some that no reader sees. */
static void find_cells(void) {
    long error = 0;
    quipu_lock(quipu_state.file);
    char *cells = quipu_take_slot(&error);
    quipu_unlock(quipu_state.file);
    if (cells)
        error = set_distance((uint64_t)cells - (uint64_t)quipu_cells_begin);
    if (error == 0)
        return;
    quipu_warn("extend", false, -error, "the counts of some threads are lost");
    use_lost_cells();
}

uint64_t quipu_attach_thread(void) {
    if (__atomic_load_n(&quipu_state.phase, __ATOMIC_ACQUIRE) == PHASE_NEW)
        return 0; /* the constructor will attach this thread */
    uint64_t mask = block_signals();
    /* A handler may have attached the thread since the inserted code tested it. */
    if (*own_bias() == QUIPU_UNATTACHED) {
        if (quipu_state.phase == PHASE_READY)
            find_cells();
        else
            use_static_cells();
    }
    uint64_t bias = *own_bias();
    restore_signals(mask);
    return bias;
}
