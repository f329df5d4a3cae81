/* start.c: makes the fixed area and the shadow, in the first module that has watched stores.
 *
 * It runs before any instrumented code of the module, because that reads the shadow
 * unconditionally. An executable starts it from .preinit_array, before the constructors of shared
 * objects, which may call back. A shared object starts it from the first entry of its .init_array.
 * Two of these never run at the same time.
 *
 * A forked child has a copy of all this. fork takes the lock. If a child was made without the C
 * library, its lock and sequence are zero (MADV_WIPEONFORK), and data that another thread was
 * changing may be inconsistent. */
#include "format/data_file.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>
#include <pthread.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Tools read this before they start the program. */
__attribute__((section(QUIPU_WATCH_SECTION), used)) static const volatile uint32_t version =
    QUIPU_WATCH_VERSION;

/* Each module registers these functions; the first call takes the lock for all. */
static void prepare_fork(void) {
    struct watch *watch = WATCH;
    if (__atomic_load_n(&watch->forking, __ATOMIC_RELAXED) != thread_pointer()) {
        /* or else the child would report the changes once more */
        quipu_watch_compare_last((uint64_t)__builtin_frame_address(0), true);
        uint64_t mask = quipu_watch_lock();
        watch->fork_mask = mask;
        __atomic_store_n(&watch->forking, thread_pointer(), __ATOMIC_RELAXED);
    }
    watch->fork_depth++;
}

static void end_fork(void) {
    struct watch *watch = WATCH;
    if (--watch->fork_depth > 0)
        return;
    uint64_t mask = watch->fork_mask;
    __atomic_store_n(&watch->forking, 0, __ATOMIC_RELAXED);
    quipu_watch_unlock(mask);
}

static void end_fork_in_child(void) {
    quipu_watch_forget_handlers();
    if (WATCH->fork_depth == 1)
        quipu_watch_forget_activations();
    quipu_watch_forget_loops();
    end_fork();
}

/* Maps SIZE bytes at the fixed area, and makes the fixed area writable. Returns 0 or the negative
 * error number. */
static long map_area(uint64_t size) {
    void *area = (void *)QUIPU_WATCH_AREA;
    void *mapped =
        map_memory(area, size, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (is_error(mapped))
        return (long)mapped;
    if (mapped == area)
        return SYSTEM_CALL(mprotect, area, QUIPU_WATCH_AREA_SIZE, PROT_READ | PROT_WRITE, 0, 0, 0);
    /* the kernel does not know the flag, and the address is in use */
    SYSTEM_CALL(munmap, mapped, size, 0, 0, 0, 0);
    return -EEXIST;
}

/* Makes the fixed area and the shadow. If the shadow is refused: only the fixed area. */
static long make_area(void) {
    uint64_t all =
        QUIPU_WATCH_SHADOW + QUIPU_WATCH_SHADOW_SIZE + QUIPU_WATCH_BEHIND - QUIPU_WATCH_AREA;
    long error = map_area(all);
    if (error == -EEXIST)
        return error;
    bool no_shadow = error < 0;
    if (no_shadow)
        error = map_area(QUIPU_WATCH_AREA_SIZE);
    if (error < 0)
        return error;
    if (!no_shadow) {
        SYSTEM_CALL(madvise, QUIPU_WATCH_SHADOW, QUIPU_WATCH_SHADOW_SIZE, MADV_DONTDUMP, 0, 0, 0);
        SYSTEM_CALL(madvise, QUIPU_WATCH_SHADOW, QUIPU_WATCH_SHADOW_SIZE, MADV_NOHUGEPAGE, 0, 0, 0);
    }
    SYSTEM_CALL(madvise, WATCH_WIPED, QUIPU_PAGE, MADV_WIPEONFORK, 0, 0, 0);
    SYSTEM_CALL(madvise, WATCH_RUNNING,
                round_to_page(sizeof(struct watch_running) * WATCH_RUNNING_MAX), MADV_WIPEONFORK, 0,
                0, 0);
    struct watch *watch = WATCH;
    watch->version = version;
    watch->size = sizeof *watch;
    watch->no_shadow = no_shadow;
    __atomic_store_n(&watch->magic, WATCH_MAGIC, __ATOMIC_RELEASE);
    return 0;
}

/* Whether the fixed area was made by a module with this build of the runtime. The memory may belong
 * to anyone. */
static bool is_area(void) {
    struct watch found = {0};
    return quipu_watch_read(&found, QUIPU_WATCH_AREA, offsetof(struct watch, segments)) ==
               offsetof(struct watch, segments) &&
           found.magic == WATCH_MAGIC && found.version == QUIPU_WATCH_VERSION &&
           found.size == sizeof found;
}

void quipu_watch_start(int argc, char **argv, char **environment) {
    static bool opened;
    (void)argc;
    (void)argv;
    if (!quipu_watch_ready) {
        if (!is_area() && make_area() < 0)
            return;
        quipu_watch_ready = true;
        if (WATCH->no_shadow)
            quipu_watch_use_bitmap();
        quipu_watch_enter_module(quipu_watch_visited, quipu_watch_lead_threads);
        pthread_atfork(prepare_fork, end_fork, end_fork_in_child);
    }
    opened = opened || quipu_watch_open_log(environment);
}

/* Runs when a shared object is closed, or the program ends: after the module's other destructors.
 */
__attribute__((destructor(101))) static void leave(void) {
    if (!quipu_watch_ready)
        return;
    /* destructors of objects in libraries, and functions of `atexit`, have run */
    quipu_watch_compare_last((uint64_t)__builtin_frame_address(0), false);
    quipu_watch_leave_module();
}
