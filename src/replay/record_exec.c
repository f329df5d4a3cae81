/* record_exec.c: programs that a recorded process executes; see record.h.
 *
 * A program begins with its stack, its registers and its mappings, of which the recording has the
 * hashes. Nothing else of what the process was before reaches it.
 *
 * Not perfect: a program that is executed by a descriptor, and changes its user, is seen only when
 * it has begun. */
#include "replay/record.h"

#include "replay/start.h"
#include "util/refusal.h"
#include "x86/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static bool changes_user(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_mode & S_ISUID ||
            (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP));
}

static const char *user_text(struct recorder *recorder, const char *path) {
    return arena_print(recorder->arena,
                       "'%s' changes its user or group when it begins (setuid), which a program "
                       "under control must not%s",
                       path,
                       recorder->promises ? "; here it cannot, as frequent calls are recorded "
                                            "inside; record with --stops if it has to"
                                          : "");
}

const char *refuse_program(struct recorded_thread *thread) {
    struct recorder *recorder = thread->recorder;
    const uint64_t *arguments = thread->call.arguments;
    bool by_path = thread->call.number == SYS_execve;
    const char *path = read_path(thread, arguments[by_path ? 0 : 1]);
    const char *place = path;
    if (*path != '/')
        place =
            by_path || (int)arguments[0] == AT_FDCWD
                ? arena_print(&thread->effects.arena, "/proc/%d/cwd/%s", (int)thread->number, path)
                : arena_print(&thread->effects.arena, "/proc/%d/fd/%d%s%s", (int)thread->number,
                              (int)arguments[0], *path ? "/" : "", path);
    return changes_user(place) ? user_text(recorder, path) : NULL;
}

/* Returns NULL, or why the program cannot be recorded. */
static const char *check_program(struct recorded_thread *thread, const struct start *start) {
    struct recorder *recorder = thread->recorder;
    const struct tracee tracee = {.process = thread->number};
    if (changes_user(start->path)) /* its addresses are random again, too */
        return user_text(recorder, start->path);
    if (has_random_addresses(&tracee))
        return "address randomization cannot be turned off here, and the addresses of a recorded "
               "run must be those of its replay; in a container, allow 'personality' in the seccomp "
               "profile";
    if (!runs_64_bits(&start->registers))
        return arena_print(recorder->arena, "'%s' is a 32-bit program", start->path);
    return NULL;
}

const char *describe_program(struct recorded_thread *thread, struct start *start) {
    const uint64_t arguments[6] = {PR_SET_TSC, PR_TSC_SIGSEGV};
    struct recorded_process *process = thread->process;
    struct arena *arena = &process->arena;
    bool bound = process->affinity.bound && !process->affinity.given_up;
    uint32_t processor = bound ? (uint32_t)sched_getcpu() : UINT32_MAX;
    if (!hide_kernel_code(thread->number))
        return refusal(arena, "ptrace", 0, errno);
    if (!describe_start(arena, thread->number, processor, start))
        return arena_print(arena, "its memory cannot be read: %s", strerror(errno));
    process->path = start->path;
    if (!thread->recorder->keeps_running)                        /* nobody could take it back */
        inject_first_call(thread->number, SYS_prctl, arguments); /* not all machines have it */
    return check_program(thread, start);
}

void record_program_start(struct recorded_thread *thread, struct start *start) {
    struct recorded_process *process = thread->process;
    process->is_static = true;
    process->interprets = false;
    for (size_t i = 0; i < start->mappings.count; i++) {
        const char *path = start->mappings.data[i].path;
        process->is_static &= *path != '/' || strcmp(path, start->mappings.data[0].path) == 0;
        record_file(thread, path, path);
    }
    keep_program(thread, start);
    replace_first_counter_reads(thread);
    write_start(&thread->recorder->writer, thread->id, start);
    set_boundary(thread, false);
}

/* All other threads of the process have ended, or are about to be reported so. THREAD, which has
 * the process's number now, is its only one. */
static void end_others(struct recorded_thread *thread) {
    for (struct recorded_thread *at = thread->recorder->threads; at; at = at->next)
        if (at != thread && at->process == thread->process)
            at->state = RECORD_LEFT;
    make_fresh(thread->recorder, thread->process->group);
}

void record_exec(struct recorded_thread *thread) {
    struct recorded_process *process = thread->process;
    thread->call.result = 0;
    record_call(thread);
    end_others(thread);
    thread->number = process->number;
    thread->clear = 0;
    thread->state = RECORD_EXECUTES;
    process->counter_reads.data = NULL;
    process->counter_reads.count = process->counter_reads.capacity = 0;
    process->files.data = NULL;
    process->files.count = process->files.capacity = 0;
    process->knows_files = false;
    process->segments.data = NULL;
    process->segments.count = process->segments.capacity = 0;
    process->shared.data = NULL;
    process->shared.count = process->shared.capacity = 0;
    process->shares_pages = process->shares_all = process->is_undumpable = false;
    process->data_end = thread->stack = thread->stack_end = 0;
    ticks_forget(&process->ticks);
    inside_forget(&process->inside);
    process->path = "";
    arena_release(&process->arena);
    streams_execute(&process->streams, thread->number);
    change_group(process, NULL);
}
