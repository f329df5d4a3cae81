/* record_file.c: which files a recorded run has mapped; see record.h.
 *
 * Their contents, as far as they are mapped, are in the recording by themselves. 'quipu pack' needs
 * to know whole files, and that they are still the same. */
#include "replay/record.h"

#include "util/memory_map.h"

#include <string.h>
#include <sys/stat.h>

void record_file(struct recorded_thread *thread, const char *path, const char *name) {
    struct recorder *recorder = thread->recorder;
    struct stat status;
    if (*name != '/' || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    const struct file_part file = {
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = (uint64_t)status.st_size,
        .seconds = (uint64_t)status.st_mtim.tv_sec,
        .nanoseconds = (uint64_t)status.st_mtim.tv_nsec,
    };
    if (find_part(&recorder->files, &file))
        return;
    add_part(&recorder->files, &file, 0);
    struct buffer *event = recording_event(&recorder->writer);
    buffer_add(event, name, strlen(name) + 1);
    put_number(event, file.size, sizeof file.size);
    put_number(event, file.seconds, sizeof file.seconds);
    put_number(event, file.nanoseconds, 4);
    add_recorded_event(thread, QUIPU_EVENT_FILE);
}

/* Adds those that the process of THREAD has mapped now. */
static void record_mapped_files(struct recorded_thread *thread) {
    struct memory_map map;
    struct memory_mapping mapping;
    memory_map_open(&map, thread->number);
    while (memory_map_next(&map, &mapping))
        if (mapping.is_file)
            record_file(thread, mapping.path, mapping.path);
    memory_map_close(&map);
}

void record_files_again(struct recorder *recorder) {
    forget_parts(&recorder->files);
    for (const struct recorded_process *process = recorder->processes; process;
         process = process->next) {
        struct recorded_thread *thread = recorder->threads;
        while (thread && (thread->process != process || thread->state >= RECORD_ENDS))
            thread = thread->next;
        if (thread)
            record_mapped_files(thread);
    }
}
