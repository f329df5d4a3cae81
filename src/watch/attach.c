/* attach.c: has a running program look at the watch file; see attach.h.
 *
 * All threads are stopped, and one of them is sent into the runtime ("a visit"). So pointers do not
 * change while the regions are made. The runtime's lock must be free first: a stopped thread would
 * not release it. */
#include "watch/attach.h"

#include "tracee/stopped.h"
#include "tracee/tracee.h"
#include "util/refusal.h"
#include "x86/visit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    TRIES = 400,         /* attempts to find the lock free */
    PAUSE = 5 * 1000000, /* nanoseconds between them */
    LOOK = 100 * 1000,   /* nanoseconds between two looks at whether the visit is over */
    LOOKS_MAX = 100000,  /* about ten seconds in all */
};

static void pause_for(long nanoseconds) {
    const struct timespec time = {0, nanoseconds};
    nanosleep(&time, NULL);
}

static bool write_process(pid_t process, uint64_t address, const void *bytes, size_t size) {
    struct iovec here = {(void *)bytes, size}, there = {(void *)address, size};
    return process_vm_writev(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

const char *read_area(struct arena *arena, pid_t process, struct quipu_watch_area *area) {
    if (!read_memory(process, QUIPU_WATCH_AREA, area, sizeof *area))
        switch (errno) {
        case ESRCH:
            return "it has ended";
        case EFAULT:
            return "it does not tell of writes; build it with 'quipu cc --quipu=watch'";
        default:
            return arena_print(arena, "it cannot be looked at: %s",
                               refusal(arena, "process_vm_readv", process, errno));
        }
    if (area->magic != QUIPU_WATCH_AREA_MAGIC)
        return "it does not tell of writes; build it with 'quipu cc --quipu=watch'";
    if (area->version != QUIPU_WATCH_VERSION)
        return "another version of quipu has built it; build it again";
    if (!area->visit)
        return "none of its code tells of writes just now, as it begins or ends; try again";
    return NULL;
}

/* A process that has ended has no memory, even while its parent has not waited for it. */
static bool has_gone(pid_t process) {
    uint8_t byte;
    return !read_memory(process, 0, &byte, sizeof byte) && errno == ESRCH;
}

pid_t find_consumer(pid_t process, const struct quipu_watch_area *area) {
    struct quipu_watch_file file = {0};
    if (!area->file || !read_memory(process, area->file, &file, sizeof file) ||
        memcmp(file.magic, QUIPU_WATCH_MAGIC, sizeof file.magic) != 0 || !file.consumer ||
        has_gone((pid_t)file.consumer))
        return 0;
    return (pid_t)file.consumer;
}

/* ---- visits ---- */

/* Waits until the function has returned. It does not need the other threads. */
static bool wait_for_answer(pid_t process, struct visit *visit, struct quipu_watch_area *area) {
    for (int i = 0; i < LOOKS_MAX; i++) {
        if (!read_memory(process, QUIPU_WATCH_AREA, area, sizeof *area))
            return false;
        if (area->visited)
            return true;
        if (!keep_visit(visit))
            return false;
        pause_for(LOOK);
    }
    return false;
}

/* Returns a thread that only quipu has stopped, or 0 if there is none at present. */
static pid_t choose_thread(const struct stopped_process *stopped) {
    for (size_t i = 0; i < stopped->threads.count; i++)
        if (!stopped->threads.data[i].signal)
            return stopped->threads.data[i].thread;
    return 0;
}

/* Sends THREAD into the runtime. All threads are stopped. No signal may end quipu before the thread
 * is back. Returns NULL or an error message. */
static const char *send(struct arena *arena, pid_t process, pid_t thread, const char *path,
                        struct quipu_watch_area *area) {
    const uint32_t no = 0;
    struct visit visit;
    sigset_t all, mask;
    const char *wrong = NULL;
    if (!write_process(process, QUIPU_WATCH_PATH, path, strlen(path) + 1) ||
        !write_process(process, QUIPU_WATCH_AREA + offsetof(struct quipu_watch_area, visited), &no,
                       sizeof no))
        return arena_print(arena, "its memory cannot be written: %s",
                           refusal(arena, "process_vm_writev", process, errno));
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    if (!begin_visit(&visit, thread, area->visit, QUIPU_WATCH_PATH, QUIPU_WATCH_STACK)) {
        wrong =
            arena_print(arena, "its thread %d cannot be used: %s", (int)thread, strerror(errno));
    } else {
        bool over = wait_for_answer(process, &visit, area);
        bool stands = end_visit(&visit);
        wrong = !stands ? "it has ended" : over ? NULL : "it does not answer; try again";
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return wrong;
}

/* Stops all threads, and sends one of them if the lock is free; then DONE becomes true. Returns
 * NULL or an error message. */
static const char *try_visit(struct arena *arena, pid_t process, const char *path,
                             void prepare(void *context), void *context, bool *done,
                             struct quipu_watch_area *area) {
    struct stopped_process stopped;
    uint32_t lock = 1;
    const char *wrong = stop_threads(process, &stopped);
    if (wrong) {
        wrong = arena_copy(arena, wrong, strlen(wrong));
        arena_release(&stopped.arena);
        return wrong;
    }
    wrong = read_area(arena, process, area);
    pid_t thread = choose_thread(&stopped);
    if (!wrong && thread && read_memory(process, QUIPU_WATCH_LOCK, &lock, sizeof lock) && !lock) {
        if (prepare)
            prepare(context);
        wrong = send(arena, process, thread, path, area);
        *done = true;
    }
    release_threads(&stopped);
    arena_release(&stopped.arena);
    return wrong;
}

static const char *visit_process(struct arena *arena, pid_t process, const char *path,
                                 void prepare(void *context), void *context,
                                 struct quipu_watch_area *area) {
    bool done = false;
    for (int i = 0; i < TRIES; i++) {
        const char *wrong = try_visit(arena, process, path, prepare, context, &done, area);
        if (wrong || done)
            return wrong;
        pause_for(PAUSE);
    }
    return "it is changing its regions all the time; try again";
}

const char *attach_file(struct arena *arena, pid_t process, const char *path,
                        void prepare(void *context), void *context) {
    struct quipu_watch_area area = {0};
    const char *wrong = visit_process(arena, process, path, prepare, context, &area);
    if (wrong || area.answer == 0)
        return wrong;
    if (area.answer == -EBUSY)
        return "somebody else watches it";
    return arena_print(arena, "it cannot map '%s': %s", path, strerror((int)-area.answer));
}

const char *detach_file(struct arena *arena, pid_t process) {
    struct quipu_watch_area area = {0};
    if (read_area(arena, process, &area) || find_consumer(process, &area) != getpid())
        return NULL; /* the requests are gone already */
    const char *wrong = visit_process(arena, process, "", NULL, NULL, &area);
    return wrong && kill(process, 0) == 0 ? wrong : NULL;
}
