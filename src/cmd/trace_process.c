/* trace_process.c: quipu trace --pid; see trace_process.h. The process looks for a symbolic link
 * (format/trace.h). */
#include "cmd/trace_process.h"

#include "format/notes.h"
#include "format/trace.h"
#include "symbols/binary.h"
#include "trace/trace.h"
#include "util/diag.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *link_name(struct arena *arena, pid_t pid) {
    return arena_print(arena, "%s%d", QUIPU_TRACE_ATTACH, (int)pid);
}

/* Whether the file at PATH has functions that record. */
static bool records_traces(const char *path) {
    struct arena arena = {0};
    struct traced_module module = {.path = path};
    if (binary_open(&arena, path, &module.binary))
        return false;
    bool records = !read_trace_notes(&arena, &module) && module.functions.count;
    binary_close(module.binary);
    arena_release(&arena);
    return records;
}

void need_recording_process(pid_t pid) {
    struct arena arena = {0};
    char line[PATH_MAX + 128], last[PATH_MAX] = "";
    FILE *maps = fopen(arena_print(&arena, "/proc/%d/maps", (int)pid), "r");
    bool found = false;
    if (!maps)
        die("cannot read what process %d has mapped: %s", (int)pid, strerror(errno));
    while (!found && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');
        if (!path || !strstr(line, "r-xp"))
            continue;
        path[strcspn(path, "\n")] = '\0';
        found = strcmp(path, last) != 0 && records_traces(path);
        snprintf(last, sizeof last, "%s", path);
    }
    fclose(maps);
    arena_release(&arena);
    if (!found)
        die("process %d has no code that records; build its program with 'quipu cc --quipu=trace'",
            (int)pid);
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
