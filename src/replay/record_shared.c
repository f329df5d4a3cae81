/* record_shared.c: files that recorded processes map as shared memory, and write otherwise; see
 * record.h.
 *
 * Such a file must be the recording's own, or others could write it: a memfd, or a file that was
 * made since the recording began. A replay has one more memory file, in which each of these files
 * is a part. All processes that map the same one are in one group.
 *
 * Not perfect: that nobody else opens a new file is not checked. What calls other than write,
 * ftruncate and their like change in the file is not in the memory of a replay. */
#include "replay/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PAGE = 4096
};

/* Sets FILE to that at PATH, of a descriptor. A number of a file that is gone may be that of
 * another one later, so the time at which it was made tells them apart. */
static bool identify(const char *path, struct shared_file *file) {
    struct statx status;
    if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &status) != 0)
        return false;
    bool has_begin = status.stx_mask & STATX_BTIME;
    *file = (struct shared_file){
        .device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor,
        .inode = status.stx_ino,
        .seconds = has_begin ? status.stx_btime.tv_sec : 0,
        .nanoseconds = has_begin ? status.stx_btime.tv_nsec : 0,
    };
    return true;
}

/* Whether FILE, which has the NAME, belongs to the recording. */
static bool is_own(const struct recorder *recorder, const struct shared_file *file,
                   const char *name) {
    static const char memory[] = "/memfd:";
    return strncmp(name, memory, sizeof memory - 1) == 0 ||
           is_made_since_begin(recorder, file->seconds, file->nanoseconds);
}

/* Returns the number of the file, from 1, or 0 if it was never mapped so. */
static uint32_t find_shared(const struct recorder *recorder, const struct shared_file *file) {
    for (size_t i = 0; i < recorder->shared.count; i++) {
        const struct shared_file *at = &recorder->shared.data[i];
        if (at->device == file->device && at->inode == file->inode &&
            at->seconds == file->seconds && at->nanoseconds == file->nanoseconds)
            return (uint32_t)i + 1;
    }
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

/* The process of THREAD is about to map the shared file NUMBER. */
static void note_shared(struct recorded_process *process, uint32_t number) {
    join_groups(process, number);
    if (!has_shared(process, number))
        vector_push(&process->arena, &process->shared, number);
    process->shares_pages = true;
}

uint32_t share_memory(struct recorded_thread *thread) {
    struct recorder *recorder = thread->recorder;
    if (recorder->shared.count == QUIPU_SHARED_MAX)
        return 0;
    vector_push(recorder->arena, &recorder->shared, (struct shared_file){.device = 0});
    note_shared(thread->process, (uint32_t)recorder->shared.count);
    return (uint32_t)recorder->shared.count;
}

bool is_known_shared(const struct recorder *recorder, const struct shared_file *file) {
    return find_shared(recorder, file) != 0;
}

uint32_t share_file(struct recorded_thread *thread, const char *path, const char *name) {
    struct shared_file file;
    return identify(path, &file) && is_own(thread->recorder, &file, name)
               ? share_known(thread, &file)
               : 0;
}

uint32_t share_known(struct recorded_thread *thread, const struct shared_file *file) {
    struct recorder *recorder = thread->recorder;
    uint32_t number = find_shared(recorder, file);
    if (!number) {
        if (recorder->shared.count == QUIPU_SHARED_MAX)
            return 0;
        vector_push(recorder->arena, &recorder->shared, *file);
        number = (uint32_t)recorder->shared.count;
    }
    note_shared(thread->process, number);
    return number;
}

/* Adds that SIZE bytes at ADDRESS are the shared file NUMBER, from PLACE on. */
static void add_shared(struct recorded_thread *thread, uint64_t address, uint64_t size,
                       uint32_t number, uint64_t place) {
    struct buffer *event = recording_event(&thread->recorder->writer);
    put_number(event, QUIPU_MEMORY_SHARED, 1);
    put_number(event, address, sizeof address);
    buffer_uleb128(event, number);
    buffer_uleb128(event, place);
    buffer_uleb128(event, size);
    add_recorded_event(thread, QUIPU_EVENT_MEMORY);
}

void record_shared(struct recorded_thread *thread) {
    const uint64_t *arguments = thread->call.arguments;
    uint64_t size = (arguments[1] + PAGE - 1) / PAGE * PAGE;
    add_shared(thread, (uint64_t)thread->call.result, size, thread->maps, arguments[5]);
}

void record_shared_memory(struct recorded_thread *thread, uint64_t address, uint64_t size,
                          uint32_t number) {
    add_shared(thread, address, size, number, 0);
}

/* ---- calls that write to such a file ---- */

static bool writes_to_file(uint64_t number) {
    static const uint16_t calls[] = {SYS_write,   SYS_writev,   SYS_pwrite64,
                                     SYS_pwritev, SYS_pwritev2, SYS_ftruncate};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == number)
            return true;
    return false;
}

static const char *link_of_written(struct recorded_thread *thread) {
    return arena_print(&thread->effects.arena, "/proc/%d/fd/%d", (int)thread->number,
                       (int)thread->call.arguments[0]);
}

void begin_file_write(struct recorded_thread *thread) {
    struct shared_file file;
    thread->writes = 0;
    if (!thread->recorder->shared.count || !writes_to_file(thread->call.number) ||
        !identify(link_of_written(thread), &file))
        return;
    thread->writes = find_shared(thread->recorder, &file);
    if (thread->writes)
        join_groups(thread->process, thread->writes);
}

/* Returns the place of the file behind what the call has written. */
static uint64_t file_position(const struct recorded_thread *thread) {
    static const char key[] = "pos:";
    char path[64], *line = NULL;
    size_t room = 0;
    uint64_t place = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)thread->number,
             (int)thread->call.arguments[0]);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0)
        if (strncmp(line, key, sizeof key - 1) == 0)
            place = strtoull(line + sizeof key - 1, NULL, 10);
    free(line);
    if (file)
        fclose(file);
    return place;
}

static uint64_t written_place(const struct recorded_thread *thread) {
    const struct system_call *call = &thread->call;
    uint64_t position = call->arguments[3];
    switch (call->number) {
    case SYS_ftruncate:
        return call->arguments[1];
    case SYS_pwritev2:
        if (position != UINT64_MAX)
            return position;
        break;
    case SYS_pwrite64:
    case SYS_pwritev:
        return position;
    default:
        break;
    }
    return file_position(thread) - (uint64_t)call->result;
}

/* Adds SIZE bytes at PLACE of the shared file NUMBER; none: it ends there. */
static void add_written(struct recorded_thread *thread, uint32_t number, uint64_t place,
                        const uint8_t *bytes, size_t size) {
    struct buffer *event = recording_event(&thread->recorder->writer);
    put_number(event, QUIPU_MEMORY_FILE, 1);
    buffer_uleb128(event, number);
    buffer_uleb128(event, place);
    buffer_add(event, bytes, size);
    add_recorded_event(thread, QUIPU_EVENT_MEMORY);
}

void record_shared_end(struct recorded_thread *thread, uint32_t number, uint64_t place) {
    static const uint8_t none;
    add_written(thread, number, place, &none, 0);
}

void record_file_write(struct recorded_thread *thread) {
    static uint8_t bytes[QUIPU_RECORDING_MEMORY_MAX];
    if (!thread->writes)
        return;
    uint64_t left = (uint64_t)thread->call.result, place = written_place(thread);
    if (thread->call.number == SYS_ftruncate)
        record_shared_end(thread, thread->writes, place);
    int fd = left ? open(link_of_written(thread), O_RDONLY | O_CLOEXEC) : -1;
    while (left && fd >= 0) {
        size_t size = left < sizeof bytes ? left : sizeof bytes;
        ssize_t count = pread(fd, bytes, size, (off_t)place);
        if (count <= 0)
            break;
        add_written(thread, thread->writes, place, bytes, (size_t)count);
        place += (uint64_t)count;
        left -= (uint64_t)count;
    }
    if (fd >= 0)
        close(fd);
}
