/* record_maps.c: the memory inside of a recorded program (inside.h) is not in what the program
 * reads of its memory map; see record.h.
 *
 * proc(5): /proc/PID/maps has a line for each mapping, which begins with its addresses. What the
 * program has read is changed before it is recorded. So a replay, which has no such memory, gives
 * the same.
 *
 * Not perfect: /proc/PID/smaps and its like, and reads by other calls than read and pread, tell of
 * it; so does a line of which a read has given less than the first address. */
#include "replay/record.h"

#include "x86/kernel.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether DESCRIPTOR of the thread leads to a memory map. */
static bool leads_to_map(const struct recorded_thread *thread, int descriptor) {
    static const char end[] = "/maps";
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread->number, descriptor);
    ssize_t size = readlink(path, target, sizeof target);
    return size > (ssize_t)sizeof end && strncmp(target, "/proc/", strlen("/proc/")) == 0 &&
           memcmp(target + size - strlen(end), end, strlen(end)) == 0;
}

/* Whether the line of SIZE bytes is that of the memory. */
static bool is_hidden(const char *line, size_t size) {
    char text[32], *behind;
    size_t length = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, line, length);
    text[length] = '\0';
    uint64_t start = strtoull(text, &behind, 16);
    return *behind == '-' && is_inside(start);
}

/* What the kernel has written behind the SIZE bytes that are left becomes zeros. */
static void clear_rest(struct recorded_thread *thread, char *text, size_t left, size_t size) {
    uint64_t address = thread->call.arguments[1];
    memset(text + left, 0, size - left);
    write_memory(thread->number, address, text, size);
    add_recorded_memory(thread, address + left, text + left, size - left, NULL);
}

/* Removes lines from the SIZE bytes at TEXT. WITHIN says whether it begins within such a line, and
 * then whether it ends so. Returns how many bytes are left. */
static size_t hide_lines(char *text, size_t size, bool *within) {
    size_t left = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t line = end ? (size_t)(end - text) + 1 - at : size - at;
        bool hidden = *within || is_hidden(text + at, line);
        if (!hidden) {
            memmove(text + left, text + at, line);
            left += line;
        }
        *within = hidden && !end;
        at += line;
    }
    return left;
}

void hide_inside(struct recorded_thread *thread) {
    struct recorded_process *process = thread->process;
    struct system_call *call = &thread->call;
    const int descriptor = (int)call->arguments[0];
    bool reads = call->number == SYS_read || call->number == SYS_pread64;
    if (!process->inside.is_mapped || !reads || !leads_to_map(thread, descriptor))
        return;
    bool within = process->hides_rest == descriptor + 1;
    process->hides_rest = 0;
    while (call->result > 0) {
        size_t size = (size_t)call->result;
        char *text = malloc(size);
        bool good = text && read_memory(thread->number, call->arguments[1], text, size);
        size_t left = good ? hide_lines(text, size, &within) : size;
        if (left < size)
            clear_rest(thread, text, left, size);
        free(text);
        if (within)
            process->hides_rest = descriptor + 1;
        if (left == size)
            return;
        call->result = (int64_t)left;
        if (!left) /* nothing would mean the end */
            call->result = inject_call(thread->number, process->site, (long)call->number,
                                       call->arguments, NULL);
        set_call_result(thread->number, call->result);
        if (left)
            return;
    }
}
