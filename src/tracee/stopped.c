/* stopped.c: stops threads for a short time; see stopped.h.
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
#include "tracee/stopped.h"

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

static bool is_stopped(const struct stopped_process *stopped, pid_t thread) {
    for (size_t i = 0; i < stopped->threads.count; i++)
        if (stopped->threads.data[i].thread == thread)
            return true;
    return false;
}

/* Waits until THREAD is stopped. If it has ended instead, its number becomes 0. Returns NULL or a
 * message. */
static const char *wait_for(struct stopped_process *stopped, struct stopped_thread *thread) {
    static const struct timespec pause = {.tv_nsec = PAUSE};
    struct arena *arena = &stopped->arena;
    pid_t process = stopped->process;
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
static const char *interrupt(struct stopped_process *stopped, pid_t thread) {
    bool seized = ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0;
    if (seized && ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0) {
        vector_push(&stopped->arena, &stopped->threads, ((struct stopped_thread){thread, 0}));
        return NULL;
    }
    int cause = errno;
    if (seized) /* it has ended; without this it would stay a zombie as long as quipu runs */
        (void)waitpid(thread, NULL, __WALL | WNOHANG);
    if (seized || has_ended(stopped->process, thread))
        return NULL;
    return arena_print(&stopped->arena, "it cannot be stopped for a moment: %s",
                       refusal(&stopped->arena, "ptrace", stopped->process, cause));
}

/* Asks all threads that are not in the list to stop. */
static const char *interrupt_new_threads(struct stopped_process *stopped) {
    char path[64];
    const char *cause = NULL;
    snprintf(path, sizeof path, "/proc/%d/task", (int)stopped->process);
    DIR *directory = opendir(path);
    if (!directory)
        return errno == ENOENT ? "it has ended" : strerror(errno);
    for (struct dirent *entry; !cause && (entry = readdir(directory));) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0 && !is_stopped(stopped, thread) && !has_ended(stopped->process, thread))
            cause = interrupt(stopped, thread);
    }
    closedir(directory);
    return cause;
}

/* Stops the threads that are not in the list, and sets FOUND if there was one. */
static const char *stop_new_threads(struct stopped_process *stopped, bool *found) {
    size_t first = stopped->threads.count, kept = first;
    const char *cause = interrupt_new_threads(stopped);
    *found = stopped->threads.count > first;
    for (size_t i = first; i < stopped->threads.count; i++) {
        struct stopped_thread *thread = &stopped->threads.data[i];
        const char *late = wait_for(stopped, thread); /* only a stopped thread can be released */
        cause = cause ? cause : late;
        if (thread->thread)
            stopped->threads.data[kept++] = *thread;
    }
    stopped->threads.count = kept;
    return cause;
}

/* ---- instructions ---- */

/* A thread whose stack is being unwound. */
struct walk {
    struct stopped_process *stopped;
    pid_t thread;
    bool started;
};

static void add_caller(const struct walk *walk, uint64_t address) {
    vector_push(&walk->stopped->arena, &walk->stopped->callers,
                ((struct pending_instruction){walk->thread, address, 0}));
}

static void add_pending(const struct walk *walk, uint64_t address, uint64_t rcx) {
    vector_push(&walk->stopped->arena, &walk->stopped->pending,
                ((struct pending_instruction){walk->thread, address, rcx}));
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
        add_pending(walk, address, rcx);
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

static const char *find_pending(struct stopped_process *stopped) {
    const char *cause = NULL;
    Dwfl *unwinder = open_unwinder(stopped->process);
    for (size_t i = 0; i < stopped->threads.count && !cause; i++) {
        struct walk walk = {stopped, stopped->threads.data[i].thread, false};
        uint64_t address, rcx;
        if (thread_address(walk.thread, &address) && thread_turns(walk.thread, &rcx)) {
            add_pending(&walk, address, rcx);
            if (unwinder)
                (void)dwfl_getthread_frames(unwinder, walk.thread, look_at_frame, &walk);
        } else if (errno != ESRCH) { /* another process has killed it */
            cause =
                arena_print(&stopped->arena, "its registers cannot be read: %s", strerror(errno));
        }
    }
    if (unwinder)
        dwfl_end(unwinder);
    return cause;
}

const char *stop_threads(pid_t process, struct stopped_process *stopped) {
    *stopped = (struct stopped_process){.process = process};
    const char *cause = NULL;
    for (bool found = true; found && !cause;) {
        found = false;
        cause = stop_new_threads(stopped, &found);
    }
    if (!cause && !stopped->threads.count)
        cause = "it has ended";
    if (cause)
        release_threads(stopped);
    return cause;
}

const char *stop_and_unwind(pid_t process, struct stopped_process *stopped) {
    const char *cause = stop_threads(process, stopped);
    if (!cause)
        cause = find_pending(stopped);
    if (cause)
        release_threads(stopped);
    return cause;
}

void release_threads(struct stopped_process *stopped) {
    for (size_t i = 0; i < stopped->threads.count; i++) {
        const struct stopped_thread *thread = &stopped->threads.data[i];
        if (!thread->signal)
            repeat_broken_call(thread->thread);
        (void)ptrace(PTRACE_DETACH, thread->thread, NULL, (void *)(intptr_t)thread->signal);
    }
    stopped->threads.count = 0;
}
