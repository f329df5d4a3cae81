/* record_segment.c: segments of System V shared memory (shmat) in a recorded process; see record.h.
 *
 * A segment that was made since the recording began, and that nobody else has attached, is taken to
 * be the recording's own, as a file is (record_shared.c). It begins with zeros, and only what has
 * it attached writes to it, so its contents are not recorded.
 *
 * Not perfect: that no other process attaches it later is not checked. */
#include "replay/record.h"

#include <sys/shm.h>
#include <sys/syscall.h>

enum {
    PAGE = 4096
};

static uint64_t mapped_size(const struct shmid_ds *segment) {
    return ((uint64_t)segment->shm_segsz + PAGE - 1) / PAGE * PAGE;
}

bool share_segment(struct recorded_thread *thread) {
    const struct recorder *recorder = thread->recorder;
    int id = (int)thread->call.arguments[0];
    struct shmid_ds segment;
    struct shared_file file = {.device = UINT64_MAX, .inode = (uint64_t)id};
    thread->maps = 0;
    if (shmctl(id, IPC_STAT, &segment) != 0)
        return false;
    bool is_own = is_known_shared(recorder, &file) ||
                  (segment.shm_nattch == 0 && segment.shm_ctime >= recorder->began.tv_sec);
    if (is_own)
        thread->maps = share_known(thread, &file);
    return thread->maps;
}

static void follow_attached(struct recorded_thread *thread) {
    struct shmid_ds segment;
    if (shmctl((int)thread->call.arguments[0], IPC_STAT, &segment) != 0)
        return;
    const struct attached_segment attached = {(uint64_t)thread->call.result, mapped_size(&segment),
                                              thread->maps};
    vector_push(&thread->process->arena, &thread->process->segments, attached);
    record_shared_memory(thread, attached.address, attached.size, attached.number);
}

static void follow_detached(struct recorded_thread *thread) {
    const struct recorded_process *process = thread->process;
    for (size_t i = process->segments.count; i-- > 0;) {
        const struct attached_segment *at = &process->segments.data[i];
        if (at->address != thread->call.arguments[0])
            continue;
        record_shared_memory(thread, at->address, at->size, at->number);
        return;
    }
}

void record_segment(struct recorded_thread *thread) {
    if (thread->call.number == SYS_shmat)
        follow_attached(thread);
    else if (thread->call.number == SYS_shmdt)
        follow_detached(thread);
}
