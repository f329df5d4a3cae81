/* record_guard.c: see record_guard.h.
 *
 * The kernel lets go of the processes of a tracer that has ended, where they are. What the recorder
 * has changed in them is put right: their processors, the additions of ticks, and the instructions
 * that read the time stamp counter, which are those of the mapped file again. The guard adopts what
 * the recorder leaves (PR_SET_CHILD_SUBREAPER), so it finds all of them, and gets the status of the
 * first one.
 *
 * Not perfect: what was in the recorder's hands at that moment is lost: a signal that it was about
 * to deliver or has held back. A thread that comes to what is changed before that is done ends its
 * process. */
#include "cmd/record_guard.h"

#include "cmd/child.h"
#include "replay/group_signals.h"
#include "replay/ticks.h"
#include "tracee/tracee.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "util/memory_map.h"
#include "util/vector.h"
#include "x86/counter_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a process ---- */

/* Puts the instructions that read the counter back: SIZE bytes at ADDRESS are mapped from the bytes
 * FILE. */
static void restore_counter_reads(pid_t process, uint64_t address, const uint8_t *file,
                                  size_t size) {
    uint8_t *code = malloc(size);
    if (code && read_memory(process, address, code, size))
        for (size_t at = 0; (at = find_counter_read(file, size, at)) < size; at++) {
            uint8_t replaced[COUNTER_READ_MAX] = {0};
            unsigned length = counter_read_size(file + at, size - at);
            memcpy(replaced, file + at, length);
            if (!length)
                continue;
            replace_counter_read(replaced);
            if (memcmp(code + at, replaced, length) == 0)
                write_memory(process, address + at, file + at, length);
        }
    free(code);
}

/* The same for MAPPING, code of a file. */
static void restore_mapping(pid_t process, const struct memory_mapping *mapping) {
    struct buffer file = {0};
    if (buffer_read_file(&file, mapping->path) && mapping->offset < file.count) {
        uint64_t size = mapping->end - mapping->start, left = file.count - mapping->offset;
        restore_counter_reads(process, mapping->start, (const uint8_t *)file.data + mapping->offset,
                              left < size ? left : size);
    }
    buffer_release(&file);
}

static void restore_code(pid_t process) {
    struct memory_map map;
    struct memory_mapping mapping;
    memory_map_open(&map, process);
    while (memory_map_next(&map, &mapping))
        if (mapping.is_file && mapping.protection & PROT_EXEC && !mapping.is_shared)
            restore_mapping(process, &mapping);
    memory_map_close(&map);
}

/* The additions of ticks, which may be replaced by jumps. */
static void restore_ticks(pid_t process) {
    struct process_ticks ticks = {.armed = true};
    ticks_disarm(&ticks, process);
    ticks_forget(&ticks);
}

/* ---- all of them ---- */

/* The threads of what the recorder has left. */
struct left_thread {
    pid_t process, number;
};

struct left_threads {
    struct arena arena;
    VECTOR(struct left_thread) list;
};

static bool is_known(const struct left_threads *threads, pid_t number) {
    for (size_t i = 0; i < threads->list.count; i++)
        if (threads->list.data[i].number == number)
            return true;
    return false;
}

/* Stops the threads of PROCESS, and of what it has made, and adds them. */
static void stop_process(struct left_threads *threads, pid_t process);

/* The same for what the thread NUMBER has made, and unless it is ours, for that itself. */
static void stop_thread(struct left_threads *threads, pid_t process, pid_t number) {
    char name[64];
    int child;
    if (process != getpid() && !is_known(threads, number) &&
        ptrace(PTRACE_SEIZE, number, NULL, NULL) == 0) {
        ptrace(PTRACE_INTERRUPT, number, NULL, NULL);
        vector_push(&threads->arena, &threads->list, ((struct left_thread){process, number}));
    }
    snprintf(name, sizeof name, "/proc/%d/task/%d/children", (int)process, (int)number);
    FILE *file = fopen(name, "re");
    while (file && fscanf(file, "%d", &child) == 1) /* NOLINT(cert-err34-c): the kernel's digits */
        stop_process(threads, (pid_t)child);
    if (file)
        fclose(file);
}

static void stop_process(struct left_threads *threads, pid_t process) {
    char name[64];
    const struct dirent *entry;
    snprintf(name, sizeof name, "/proc/%d/task", (int)process);
    DIR *directory = opendir(name);
    while (directory && (entry = readdir(directory)))
        if (*entry->d_name != '.')
            stop_thread(threads, process, (pid_t)strtol(entry->d_name, NULL, 10));
    if (directory)
        closedir(directory);
}

/* The thread goes on. A signal for what it has found in place of its instruction is none. */
static void release_thread(pid_t number) {
    int status;
    if (waitpid(number, &status, __WALL) != number || !WIFSTOPPED(status))
        return;
    int signal = status >> 16 ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_DETACH, number, NULL, (void *)(intptr_t)(signal == SIGILL ? 0 : signal));
}

/* Puts right what the recorder has left. All of it stands meanwhile, as it would come to what is
 * not right yet. */
static void put_right(void) {
    struct left_threads threads = {.arena = {0}};
    cpu_set_t ours;
    bool known = sched_getaffinity(0, sizeof ours, &ours) == 0;
    stop_process(&threads, getpid());
    stop_process(&threads, getpid()); /* what was made meanwhile */
    for (size_t i = 0; i < threads.list.count; i++) {
        const struct left_thread *thread = &threads.list.data[i];
        if (i == 0 || thread->process != threads.list.data[i - 1].process) {
            restore_code(thread->process);
            restore_ticks(thread->process);
        }
        if (known)
            sched_setaffinity(thread->number, sizeof ours, &ours);
    }
    for (size_t i = 0; i < threads.list.count; i++)
        release_thread(threads.list.data[i].number);
    arena_release(&threads.arena);
}

/* ---- the guard ---- */

/* Waits for PROCESS. Returns its status, of wait. */
static int await(pid_t process) {
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, 0)) != process)
        if (ended < 0 && errno != EINTR)
            return 0;
    return status;
}

void guard_recorder(struct record_note **note, const sigset_t *mask) {
    struct sigaction old[NSIG];
    struct record_note *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        die("cannot make shared memory: %s", strerror(errno));
    *note = shared;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    fflush(NULL);
    pid_t recorder = fork();
    if (recorder < 0)
        die("cannot make a process: %s", strerror(errno));
    if (recorder == 0)
        return;
    signal(SIGINT, SIG_IGN); /* those of the terminal are the program's */
    signal(SIGQUIT, SIG_IGN);
    begin_group_signals(recorder, old);
    int status = await(recorder);
    end_group_signals(old);
    if (shared->has_ended || !shared->first)
        exit(child_end(status, mask));
    put_right();
    if (WIFSIGNALED(status))
        warn("the recorder has ended by signal %d; the program goes on", WTERMSIG(status));
    else
        warn("the recorder has ended by an error; the program goes on");
    exit(child_end(await(shared->first), mask));
}
