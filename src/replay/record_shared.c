/* record_shared.c: files that recorded processes map as shared memory; see record.h.
 *
 * Such a file must be the recording's own, or others could write it: a memfd, or a file that was
 * made since the recording began. A replay has one more memory file, in which each of these files
 * is a part. All processes that map the same one are in one group.
 *
 * Not perfect: that nobody else opens a new file is not checked. What is written to the file by
 * calls such as write, while it is mapped, is not in the memory of a replay. */
#include "replay/record.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Whether the file at PATH, of a descriptor, belongs to the recording. */
static bool is_own(const struct recorder *recorder, const char *path, const char *name) {
    static const char memory[] = "/memfd:";
    struct statx status;
    if (strncmp(name, memory, sizeof memory - 1) == 0)
        return true;
    return statx(AT_FDCWD, path, 0, STATX_BTIME, &status) == 0 && status.stx_mask & STATX_BTIME &&
           status.stx_btime.tv_sec >= recorder->began;
}

/* Returns the number of the file, from 1, or 0 if it was never mapped so. */
static uint32_t find_shared(const struct recorder *recorder, const struct stat *status) {
    for (size_t i = 0; i < recorder->shared.count; i++)
        if (recorder->shared.data[i].device == status->st_dev &&
            recorder->shared.data[i].inode == status->st_ino)
            return (uint32_t)i + 1;
    return 0;
}

static bool has_shared(const struct recorded_process *process, uint32_t number) {
    for (size_t i = 0; i < process->shared.count; i++)
        if (process->shared.data[i] == number)
            return true;
    return false;
}

/* All processes that have mapped the file NUMBER get into the group of PROCESS. */
static void join_groups(struct recorded_process *process, uint32_t number) {
    struct recorder *recorder = process->recorder;
    for (struct recorded_process *at = recorder->processes; at; at = at->next) {
        struct group *group = at->group;
        if (!has_shared(at, number) || group == process->group)
            continue;
        struct recorded_thread *turn = group->turn; /* it may execute just now */
        for (struct recorded_process *one = recorder->processes; one; one = one->next)
            if (one->group == process->group)
                change_group(one, group);
        group->turn = turn;
        make_fresh(recorder, group);
    }
}

uint32_t share_file(struct recorded_thread *thread, const char *path, const char *name) {
    struct recorder *recorder = thread->recorder;
    struct recorded_process *process = thread->process;
    struct stat status;
    if (stat(path, &status) != 0 || !is_own(recorder, path, name))
        return 0;
    uint32_t number = find_shared(recorder, &status);
    if (!number) {
        if (recorder->shared.count == QUIPU_SHARED_MAX)
            return 0;
        vector_push(recorder->arena, &recorder->shared,
                    ((struct shared_file){status.st_dev, status.st_ino}));
        number = (uint32_t)recorder->shared.count;
    }
    join_groups(process, number);
    if (!has_shared(process, number))
        vector_push(&process->arena, &process->shared, number);
    process->shares_pages = true;
    return number;
}

void record_shared(struct recorded_thread *thread) {
    struct buffer *event = recording_event(&thread->recorder->writer);
    put_number(event, QUIPU_MEMORY_SHARED, 1);
    put_number(event, (uint64_t)thread->call.result, sizeof(uint64_t));
    buffer_uleb128(event, thread->maps);
    buffer_uleb128(event, thread->call.arguments[5]);
    buffer_uleb128(event, thread->call.arguments[1]);
    add_recorded_event(thread, QUIPU_EVENT_MEMORY);
}
