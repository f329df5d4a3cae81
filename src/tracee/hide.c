/* hide.c: makes instrumented code not executable for a while; see hide.h.
 *
 * Breakpoints at the return addresses would not be enough: a library may also call back, throw an
 * exception, or jump. If the pages are not executable, each of these faults.
 *
 * If the signal of a fault is blocked or ignored, the kernel resets the process's action for it. So
 * in that case nothing is hidden.
 *
 * Not perfect: if the library blocks SIGSEGV and then calls back, the action is lost. */
#include "tracee/hide.h"

#include "symbols/event_tables.h"
#include "x86/kernel.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    PAGE = 4096,
    NEAR = 16 * PAGE /* pieces at most this far apart are hidden together */
};

struct finder {
    struct arena *arena;
    code_list *code;
};

static void take_piece(void *context, uint64_t start, uint64_t length) {
    struct finder *finder = context;
    struct code_pages pages = {start & -(uint64_t)PAGE,
                               (start + length + PAGE - 1) & -(uint64_t)PAGE};
    vector_push(finder->arena, finder->code, pages);
}

static int compare_starts(const void *left, const void *right) {
    const struct code_pages *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

void find_code(struct arena *arena, const struct binary *binary, code_list *code) {
    size_t count = 0;
    each_instrumented(binary, take_piece, &(struct finder){arena, code});
    if (code->count)
        qsort(code->data, code->count, sizeof *code->data, compare_starts);
    for (size_t i = 0; i < code->count; i++) {
        struct code_pages *last = count ? &code->data[count - 1] : NULL;
        struct code_pages next = code->data[i];
        const struct segment *segment = binary_segment(binary, next.start);
        if (last && next.start <= last->end + NEAR &&
            segment == binary_segment(binary, last->start))
            last->end = next.end > last->end ? next.end : last->end;
        else
            code->data[count++] = next;
    }
    code->count = count;
}

static bool is_in(const struct run *run, const code_list *code, uint64_t address) {
    for (size_t i = 0; i < code->count; i++)
        if (address - run->bias >= code->data[i].start && address - run->bias < code->data[i].end)
            return true;
    return false;
}

/* Whether a fault would stop PROCESS without a change of its signal action. */
static bool may_fault(pid_t process) {
    char path[64], *line = NULL;
    size_t room = 0;
    uint64_t closed = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (getline(&line, &room, file) > 0)
        if (strncmp(line, "SigBlk:", 7) == 0 || strncmp(line, "SigIgn:", 7) == 0)
            closed |= strtoull(line + 7, NULL, 16);
    free(line);
    fclose(file);
    return !(closed >> (SIGSEGV - 1) & 1);
}

static bool protect(const struct run *run, const struct repeated *process, const code_list *code,
                    int protection) {
    bool good = true;
    for (size_t i = 0; i < code->count && good; i++) {
        const uint64_t arguments[6] = {code->data[i].start + run->bias,
                                       code->data[i].end - code->data[i].start,
                                       (uint64_t)protection};
        good = inject_call(process->process, run->site, SYS_mprotect, arguments, NULL) == 0;
    }
    return good;
}

bool hide_code(const struct run *run, const struct repeated *process, const code_list *code) {
    uint64_t next = next_instruction(process->process);
    if (!code->count || !run->site || process->in_call || process->signal ||
        is_in(run, code, run->site) || is_in(run, code, next) || !may_fault(process->process))
        return false;
    if (protect(run, process, code, PROT_READ))
        return true;
    reveal_code(run, process, code);
    return false;
}

bool reveal_code(const struct run *run, const struct repeated *process, const code_list *code) {
    return protect(run, process, code, PROT_READ | PROT_EXEC);
}
