/* area.c: what all files of watched memory need: the lock of the fixed area, memory, and who the
 * process and its threads are. */
#include "format/data_file.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>
#include <linux/futex.h>

enum {
    SPINS = 200,
    LARGE = 1 << 22,
};

bool quipu_watch_ready;

void *quipu_watch_map(uint64_t size) {
    void *memory = map_memory(NULL, round_to_page(size), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (is_error(memory))
        return NULL;
    if (size >= LARGE)
        SYSTEM_CALL(madvise, memory, round_to_page(size), MADV_HUGEPAGE, 0, 0, 0);
    return memory;
}

void quipu_watch_take_lock(void) {
    uint32_t *lock = &WATCH_WIPED->lock;
    for (int i = 0; i < SPINS; i++) {
        uint32_t nobody = 0;
        if (__atomic_compare_exchange_n(lock, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return;
        __builtin_ia32_pause();
    }
    while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
        SYSTEM_CALL(futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void quipu_watch_release_lock(void) {
    uint32_t *lock = &WATCH_WIPED->lock;
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
        SYSTEM_CALL(futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

uint64_t quipu_watch_lock(void) {
    uint64_t mask = block_signals();
    quipu_watch_take_lock();
    return mask;
}

uint32_t quipu_watch_pid(void) {
    struct watch_wiped *wiped = WATCH_WIPED;
    if (!wiped->pid)
        wiped->pid = (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0);
    return wiped->pid;
}

bool quipu_watch_thread_is_gone(uint32_t tid) {
    return SYSTEM_CALL(tgkill, quipu_watch_pid(), tid, 0, 0, 0, 0) == -ESRCH;
}
