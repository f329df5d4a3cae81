/* standing.c: stops threads for a short time; see standing.h.
 *
 * PTRACE_SEIZE and PTRACE_INTERRUPT send no signal, and work in a process that is already stopped.
 * A running thread may make another thread meanwhile. So the list of threads is read again until
 * all of them are stopped.
 *
 * In a signal handler two functions of a thread are in the middle of an instruction: the handler,
 * and the function that it interrupted. The stack is unwound to find the latter.
 *
 * Not perfect: a few system calls end with EINTR, as they do when a process is stopped and
 * continued. They are those that the kernel does not restart (signal(7)) and that are not in the
 * list of x86/thread.c. A stack is unwound only as far as its unwind tables allow. */
#include "tracee/standing.h"

#include "util/process.h"
#include "util/refusal.h"
#include "x86/thread.h"

#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum {
    PAUSE = 50000,      /* nanoseconds between two looks at a thread that is to stop */
    PAUSES_MAX = 10000, /* one or two seconds in all */
};

/* ---- stopping ---- */

static bool is_standing(const struct standing *standing, pid_t thread) {
    for (size_t i = 0; i < standing->threads.count; i++)
        if (standing->threads.data[i].thread == thread)
            return true;
    return false;
}

/* Waits until THREAD is stopped. If it has ended instead, its number becomes 0. Returns NULL or a
 * message. */
static const char *wait_for(struct standing *standing, struct standing_thread *thread) {
    static const struct timespec pause = {.tv_nsec = PAUSE};
    struct arena *arena = &standing->arena;
    pid_t process = standing->process;
    int status;
    pid_t waited = 0;
    for (int i = 0; i < PAUSES_MAX && waited == 0; i++) {
        waited = waitpid(thread->thread, &status, __WALL | WNOHANG);
        if (waited == 0)
            nanosleep(&pause, NULL);
        /* the kernel reports the end of the first thread only behind those of all others, which may
         * be stopped */
        if (waited == 0 && thread->thread == process && has_ended(process, process))
            waited = -1;
    }
    if (waited == 0)
        return arena_print(arena,
                           "its thread %d does not stop, as it waits in the kernel; try again",
                           (int)thread->thread);
    if (waited < 0 || !WIFSTOPPED(status))
        thread->thread = 0;
    else if (!(status >> 16)) /* not a stop of ptrace's own, but a signal to be delivered */
        thread->signal = WSTOPSIG(status);
    return NULL;
}

/* Asks THREAD to stop. Returns NULL or a message. */
static const char *interrupt(struct standing *standing, pid_t thread) {
    bool seized = ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0;
    if (seized && ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0) {
        vector_push(&standing->arena, &standing->threads, ((struct standing_thread){thread, 0}));
        return NULL;
    }
    int cause = errno;
    if (seized) /* it has ended; without this it would stay a zombie as long as quipu runs */
        (void)waitpid(thread, NULL, __WALL | WNOHANG);
    if (seized || has_ended(standing->process, thread))
        return NULL;
    return arena_print(&standing->arena, "it cannot be stopped for a moment: %s",
                       refusal(&standing->arena, "ptrace", standing->process, cause));
}

/* Asks all threads that are not in the list to stop. */
static const char *interrupt_new_threads(struct standing *standing) {
    char path[64];
    const char *cause = NULL;
    snprintf(path, sizeof path, "/proc/%d/task", (int)standing->process);
    DIR *directory = opendir(path);
    if (!directory)
        return errno == ENOENT ? "it has ended" : strerror(errno);
    for (struct dirent *entry; !cause && (entry = readdir(directory));) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0 && !is_standing(standing, thread) && !has_ended(standing->process, thread))
            cause = interrupt(standing, thread);
    }
    closedir(directory);
    return cause;
}

/* Stops the threads that are not in the list, and sets FOUND if there was one. */
static const char *stop_new_threads(struct standing *standing, bool *found) {
    size_t first = standing->threads.count, kept = first;
    const char *cause = interrupt_new_threads(standing);
    *found = standing->threads.count > first;
    for (size_t i = first; i < standing->threads.count; i++) {
        struct standing_thread *thread = &standing->threads.data[i];
        const char *late = wait_for(standing, thread); /* only a stopped thread can be released */
        cause = cause ? cause : late;
        if (thread->thread)
            standing->threads.data[kept++] = *thread;
    }
    standing->threads.count = kept;
    return cause;
}

/* ---- instructions ---- */

/* A thread whose stack is being unwound. */
struct walk {
    struct standing *standing;
    pid_t thread;
    bool started;
};

static void add_caller(const struct walk *walk, uint64_t address) {
    vector_push(&walk->standing->arena, &walk->standing->callers,
                ((struct standing_place){walk->thread, address, 0}));
}

static void add_place(const struct walk *walk, uint64_t address, uint64_t rcx) {
    vector_push(&walk->standing->arena, &walk->standing->places,
                ((struct standing_place){walk->thread, address, rcx}));
}

static int look_at_frame(Dwfl_Frame *frame, void *argument) {
    struct walk *walk = argument;
    Dwarf_Addr address;
    Dwarf_Word rcx = 0;
    bool interrupted;
    if (!dwfl_frame_pc(frame, &address, &interrupted))
        return DWARF_CB_ABORT;
    if (walk->started && interrupted) {
        (void)dwfl_frame_reg(frame, DWARF_RCX, &rcx);
        add_place(walk, address, rcx);
    } else if (walk->started)
        add_caller(walk, address);
    walk->started = true;
    return DWARF_CB_OK;
}

/* The unwind tables in the process's memory are enough. No files are searched, and no server is
 * asked. */
static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                             const char *file, const char *link, GElf_Word checksum, char **found) {
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)checksum;
    (void)found;
    return -1;
}

/* Returns an unwinder of the process's stacks, or NULL. */
static Dwfl *open_unwinder(pid_t process) {
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = find_no_debuginfo,
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return NULL;
    bool good = dwfl_linux_proc_report(dwfl, process) == 0 &&
                dwfl_report_end(dwfl, NULL, NULL) == 0 &&
                dwfl_linux_proc_attach(dwfl, process, true) == 0;
    if (!good) {
        dwfl_end(dwfl);
        return NULL;
    }
    return dwfl;
}

static const char *find_places(struct standing *standing) {
    const char *cause = NULL;
    Dwfl *unwinder = open_unwinder(standing->process);
    for (size_t i = 0; i < standing->threads.count && !cause; i++) {
        struct walk walk = {standing, standing->threads.data[i].thread, false};
        uint64_t address, rcx;
        if (thread_address(walk.thread, &address) && thread_turns(walk.thread, &rcx)) {
            add_place(&walk, address, rcx);
            if (unwinder)
                (void)dwfl_getthread_frames(unwinder, walk.thread, look_at_frame, &walk);
        } else if (errno != ESRCH) { /* another process has killed it */
            cause =
                arena_print(&standing->arena, "its registers cannot be read: %s", strerror(errno));
        }
    }
    if (unwinder)
        dwfl_end(unwinder);
    return cause;
}

const char *hold_threads(pid_t process, struct standing *standing) {
    *standing = (struct standing){.process = process};
    const char *cause = NULL;
    for (bool found = true; found && !cause;) {
        found = false;
        cause = stop_new_threads(standing, &found);
    }
    if (!cause && !standing->threads.count)
        cause = "it has ended";
    if (cause)
        release_threads(standing);
    return cause;
}

const char *stop_threads(pid_t process, struct standing *standing) {
    const char *cause = hold_threads(process, standing);
    if (!cause)
        cause = find_places(standing);
    if (cause)
        release_threads(standing);
    return cause;
}

void release_threads(struct standing *standing) {
    for (size_t i = 0; i < standing->threads.count; i++) {
        const struct standing_thread *thread = &standing->threads.data[i];
        if (!thread->signal)
            repeat_broken_call(thread->thread);
        (void)ptrace(PTRACE_DETACH, thread->thread, NULL, (void *)(intptr_t)thread->signal);
    }
    standing->threads.count = 0;
}
