/* stat_pid.c: quipu stat --pid: the counts of a running process at one instant.
 *
 * The data is opened while the process runs, since that takes longer. Then the threads are stopped,
 * cells and addresses are read, and the threads continue. A thread's counts are those of its cells,
 * plus the potential at each address at which it was interrupted.
 *
 * Not perfect: counts that are in no file (runtime/core/slot.c) are not seen. */
#include "cmd/process_number.h"
#include "cmd/stat.h"
#include "format/event.h"

#include "data/datafile.h"
#include "symbols/event_tables.h"
#include "tracee/stopped.h"
#include "util/diag.h"
#include "util/memory_map.h"
#include "util/refusal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    TRIES = 8 /* a module may be loaded each time */
};

/* ---- finding the data ---- */

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* Whether the file at PATH is the data file of process PID. */
static bool is_data_of(const char *path, pid_t pid) {
    struct arena arena = {0};
    struct data_file file;
    bool found = !data_file_read(&arena, path, &file) && file.pid == (uint32_t)pid;
    arena_release(&arena);
    return found;
}

/* Returns the data file of process PID, which maps it until it ends. Ends the program with an error
 * if there is none. */
static char *find_data(struct arena *arena, pid_t pid) {
    struct memory_map map;
    struct memory_mapping mapping;
    char *found = NULL;
    bool removed = false;
    if (!memory_map_open(&map, pid))
        die("process %d: it cannot be looked at: %s", (int)pid,
            refusal(arena, "reading its maps", pid, errno));
    while (!found && memory_map_next(&map, &mapping)) {
        removed |= mapping.is_file && ends_with(mapping.path, ".quipu (deleted)");
        if (mapping.is_file && ends_with(mapping.path, ".quipu") && is_data_of(mapping.path, pid))
            found = arena_copy(arena, mapping.path, strlen(mapping.path));
    }
    if (!memory_map_close(&map) && !found)
        die("process %d: it cannot be looked at: %s", (int)pid,
            refusal(arena, "reading its maps", pid, errno));
    if (!found && removed)
        die("process %d: its data file was removed; run it again", (int)pid);
    if (!found)
        die("process %d: it is not instrumented, or has no data file; build it with 'quipu cc "
            "--quipu=event', or '--quipu=moment' for its moments",
            (int)pid);
    return found;
}

/* ---- one instant ---- */

/* Returns the cells of THREAD in module INDEX. Makes an entry if there is none. */
static struct thread_cells *find_cells(struct profile *profile, size_t index, pid_t thread) {
    struct process *process = &profile->processes.data[0];
    for (size_t i = 0; i < process->threads.count; i++)
        if (process->threads.data[i].module_number == index &&
            process->threads.data[i].owner == (uint32_t)thread)
            return &process->threads.data[i];
    struct thread_cells cells = {
        .module = process->modules.data[index],
        .module_number = (uint32_t)index,
        .owner = (uint32_t)thread,
        .threads = 1,
        .events = ARENA_NEW(&profile->arena, struct thread_events),
    };
    vector_push(&profile->arena, &process->threads, cells);
    return &process->threads.data[process->threads.count - 1];
}

/* Adds the events that the cells do not contain yet at instruction PENDING. Looks for the
 * instruction in each module; at most one contains it. */
static void add_pending(struct profile *profile, const struct pending_instruction *pending) {
    const struct process *process = &profile->processes.data[0];
    for (size_t i = 0; i < process->modules.count; i++) {
        int64_t sums[QUIPU_EVENTS] = {0};
        const struct module *module = process->modules.data[i];
        if (!module->binary)
            continue;
        const char *cause = add_events_above(
            module->binary, pending->address - process->load_biases[i], pending->rcx, sums);
        if (cause)
            die("'%s': %s", module->path, cause);
        bool any = false;
        for (int kind = 0; kind < QUIPU_EVENTS; kind++)
            any |= sums[kind] != 0;
        if (!any)
            continue;
        struct thread_cells *cells = find_cells(profile, i, pending->thread);
        struct thread_events *events = ARENA_NEW(&profile->arena, struct thread_events);
        if (cells->events)
            *events = *cells->events;
        for (int kind = 0; kind < QUIPU_EVENTS; kind++)
            events->counts[kind] += (uint64_t)sums[kind];
        cells->events = events;
    }
}

static bool counts_events(const struct profile *profile) {
    for (size_t i = 0; i < profile->modules.count; i++)
        if (profile->modules.data[i]->event_kinds)
            return true;
    return false;
}

static bool is_instrumented(const struct profile *profile, uint64_t address) {
    const struct process *process = &profile->processes.data[0];
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct binary *binary = process->modules.data[i]->binary;
        if (binary && has_events_at(binary, address - process->load_biases[i]))
            return true;
    }
    return false;
}

/* Adds the events that the cells do not contain yet at the return address of each thread's
 * innermost call in instrumented code. There are none, unless that is a call of the runtime which
 * is inserted in front of an increment. */
static void add_inserted_calls(struct profile *profile, const struct stopped_process *stopped) {
    pid_t done = 0;
    for (size_t i = 0; i < stopped->callers.count; i++) {
        const struct pending_instruction *caller = &stopped->callers.data[i];
        if (caller->thread == done || !is_instrumented(profile, caller->address))
            continue;
        add_pending(profile, caller);
        done = caller->thread;
    }
}

/* Reads the counts of one instant. Returns false if a module was loaded since PROFILE was
 * opened. */
static bool take_instant(struct profile *profile, pid_t pid, struct stopped_process *stopped) {
    const char *cause = stop_and_unwind(pid, stopped);
    if (cause)
        die("process %d: %s", (int)pid, cause);
    bool same = profile_refresh(profile);
    if (same)
        profile_read_events(profile);
    release_threads(stopped);
    for (size_t i = 0; same && i < stopped->pending.count; i++)
        add_pending(profile, &stopped->pending.data[i]);
    if (same)
        add_inserted_calls(profile, stopped);
    return same;
}

struct profile *open_process(const char *text, struct stopped_process *stopped) {
    pid_t pid = read_process_number(text);
    struct arena arena = {0};
    char *path = find_data(&arena, pid);
    for (int i = 0; i < TRIES; i++) {
        struct profile *profile = profile_open(&path, 1);
        if (!counts_events(profile))
            die("process %d: it counts no events; build it with 'quipu cc --quipu=event'",
                (int)pid);
        if (take_instant(profile, pid, stopped)) {
            arena_release(&arena);
            return profile;
        }
        arena_release(&stopped->arena);
        profile_close(profile);
    }
    die("process %d: it opens shared objects faster than they can be read; try again", (int)pid);
}
