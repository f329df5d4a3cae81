/* programs.c: which programs the processes of a profile ran; see programs.h. */
#include "report/programs.h"

#include "util/buffer.h"
#include "util/path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAMED_MOST = 4 /* programs in a heading */
};

bool selects(struct selection selection, const struct process *process) {
    bool found = !selection.owner;
    for (size_t i = 0; !found && i < process->threads.count; i++)
        found = process->threads.data[i].owner == selection.owner;
    return found && (!selection.process || selection.process == process);
}

static int compare_programs(const void *left, const void *right) {
    const struct program *a = left, *b = right;
    if (a->processes != b->processes)
        return a->processes < b->processes ? 1 : -1;
    return strcmp(a->path, b->path);
}

program_vector find_programs(struct arena *arena, const struct profile *profile,
                             struct selection selection) {
    struct map numbers = {0};
    program_vector programs = {0};
    for (size_t i = 0; i < profile->processes.count; i++) {
        const struct process *process = &profile->processes.data[i];
        if (!selects(selection, process))
            continue;
        uint32_t fresh = (uint32_t)programs.count;
        uint32_t number =
            *map_add(arena, &numbers, process->program, strlen(process->program), fresh);
        if (number == fresh)
            vector_push(arena, &programs, ((struct program){process->program, 0}));
        vector_at(&programs, number)->processes += process->processes ? process->processes : 1;
    }
    if (programs.count)
        qsort(programs.data, programs.count, sizeof *programs.data, compare_programs);
    return programs;
}

/* Returns the only selected process, or NULL. */
static const struct process *find_only(const struct profile *profile, struct selection selection) {
    const struct process *only = NULL;
    for (size_t i = 0; i < profile->processes.count; i++) {
        const struct process *process = &profile->processes.data[i];
        if (!selects(selection, process))
            continue;
        if (only)
            return NULL;
        only = process;
    }
    return only;
}

const char *program_text(struct arena *arena, const struct process *process) {
    return arena_print(arena, "%s%s", last_part(process->program),
                       process->mixed ? " and others" : "");
}

uint64_t count_processes(const struct profile *profile, struct selection selection) {
    uint64_t count = 0;
    for (size_t i = 0; i < profile->processes.count; i++) {
        const struct process *process = &profile->processes.data[i];
        if (!selects(selection, process))
            continue;
        if (!process->processes)
            return 0;
        count += process->processes;
    }
    return count;
}

const char *processes_text(struct arena *arena, const struct profile *profile,
                           struct selection selection) {
    uint64_t count = count_processes(profile, selection);
    bool merged = false;
    for (size_t i = 0; i < profile->processes.count; i++)
        merged |=
            selects(selection, &profile->processes.data[i]) && profile->processes.data[i].merged;
    return count || !merged ? arena_print(arena, "%" PRIu64 "%s process%s", count,
                                          merged ? " merged" : "", count == 1 ? "" : "es")
                            : "merged processes";
}

const char *programs_text(struct arena *arena, const struct profile *profile,
                          struct selection selection) {
    const struct process *only = find_only(profile, selection);
    program_vector programs = find_programs(arena, profile, selection);
    struct buffer text = {0};
    if (only && only->merged)
        return program_text(arena, only);
    if (only)
        return *only->command ? only->command : only->program;
    if (!programs.count)
        return "nothing";
    if (programs.count == 1)
        return last_part(programs.data[0].path);
    size_t named = programs.count <= NAMED_MOST + 1 ? programs.count : NAMED_MOST;
    for (size_t i = 0; i < named; i++)
        buffer_print(&text, "%s%s (%" PRIu64 ")",
                     !i                       ? ""
                     : i + 1 < programs.count ? ", "
                                              : " and ",
                     last_part(programs.data[i].path), programs.data[i].processes);
    if (named < programs.count)
        buffer_print(&text, " and %zu other programs", programs.count - named);
    const char *copy = arena_copy(arena, text.data, text.count);
    buffer_release(&text);
    return copy;
}
