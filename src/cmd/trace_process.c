/* trace_process.c: quipu trace --pid; see trace_process.h. The process looks for a symbolic link
 * (format/trace.h). If its records are left out until they are needed, its sites are armed first,
 * and stay so.
 *
 * Not perfect: modules that it loads later are not in the trace if their records are left out. */
#include "cmd/trace_process.h"

#include "format/notes.h"
#include "format/trace.h"
#include "symbols/binary.h"
#include "symbols/sites.h"
#include "trace/trace.h"
#include "tracee/stopped.h"
#include "tracee/trace_sites.h"
#include "util/diag.h"
#include "util/memory_map.h"
#include "watch/library.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *link_name(struct arena *arena, pid_t pid) {
    return arena_print(arena, "%s%d", QUIPU_TRACE_ATTACH, (int)pid);
}

/* A file with code of a process. */
struct mapped_code {
    const char *path;
    struct binary *binary;
    bool left_out; /* its records are, until its sites are armed */
};

struct recording_process {
    struct arena arena;
    VECTOR(struct mapped_code) files; /* that record */
    bool left_out;                    /* of some file */
};

/* Adds the file at PATH if it has functions that record. */
static void add_file(struct recording_process *process, const char *path) {
    struct arena *arena = &process->arena;
    struct traced_module module = {.path = arena_copy(arena, path, strlen(path))};
    if (binary_open(arena, module.path, &module.binary))
        return;
    if (read_trace_notes(arena, &module) || !module.functions.count) {
        binary_close(module.binary);
        return;
    }
    struct mapped_code code = {module.path, module.binary, has_trace_sites(module.binary)};
    vector_push(arena, &process->files, code);
    process->left_out |= code.left_out;
}

static void find_files(struct recording_process *process, pid_t pid) {
    struct memory_map map;
    struct memory_mapping mapping;
    char last[PATH_MAX] = "";
    if (!memory_map_open(&map, pid))
        die("cannot read what process %d has mapped: %s", (int)pid, strerror(errno));
    while (memory_map_next(&map, &mapping)) {
        if (!mapping.is_file || mapping.protection != (PROT_READ | PROT_EXEC))
            continue;
        if (strcmp(mapping.path, last) != 0)
            add_file(process, mapping.path);
        snprintf(last, sizeof last, "%s", mapping.path);
    }
    memory_map_close(&map);
}

/* Arms the sites of all files. Returns NULL or a message. */
static const char *arm_files(struct recording_process *process, pid_t pid) {
    struct stopped_process stopped;
    const char *wrong = stop_threads(pid, &stopped);
    uint64_t bias;
    if (wrong) {
        wrong = arena_copy(&process->arena, wrong, strlen(wrong));
        arena_release(&stopped.arena);
        return wrong;
    }
    for (size_t i = 0; i < process->files.count && !wrong; i++) {
        const struct mapped_code *file = &process->files.data[i];
        if (file->left_out && find_bias(file->binary, pid, &bias))
            wrong = arm_trace_sites(pid, file->binary, bias);
    }
    release_threads(&stopped);
    arena_release(&stopped.arena);
    return wrong;
}

void need_recording_process(pid_t pid) {
    struct recording_process process = {0};
    find_files(&process, pid);
    if (!process.files.count)
        die("process %d has no code that records; build its program with 'quipu cc --quipu=trace'",
            (int)pid);
    const char *wrong = process.left_out ? arm_files(&process, pid) : NULL;
    if (wrong)
        die("process %d cannot be made to record: %s", (int)pid, wrong);
    for (size_t i = 0; i < process.files.count; i++)
        binary_close(process.files.data[i].binary);
    arena_release(&process.arena);
}

void begin_process_recording(pid_t pid, const char *directory) {
    struct arena arena = {0};
    const char *name = link_name(&arena, pid);
    if (access(name, F_OK) != 0) /* of a quipu that was killed */
        unlink(name);
    if (symlink(directory, name) != 0)
        die(errno == EEXIST ? "another quipu records process %d; '%s' is its link"
                            : "process %d cannot be told to record: cannot make '%s'",
            (int)pid, name);
    arena_release(&arena);
}

void end_process_recording(pid_t pid) {
    struct arena arena = {0};
    unlink(link_name(&arena, pid));
    arena_release(&arena);
}
