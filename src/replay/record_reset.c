/* record_reset.c: memory that a call gives the contents of its file again, or zeros; see record.h.
 *
 * A replay has no files: there such memory is anonymous, or a part of what the player has mapped,
 * so madvise and mremap, which are made again, leave zeros or other bytes. What the file has is
 * recorded behind the call. A call of madvise that fails may have dropped a part of its range,
 * depending on what a replay does not have (mlock): it is not made again, and the whole range is
 * recorded.
 *
 * Which memory is that of files is read again only behind calls that map some: what has become
 * anonymous meanwhile is recorded without need. */
#include "replay/record.h"

#include "util/memory_map.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

enum {
    PAGE = 4096,
    PIECE = QUIPU_RECORDING_MEMORY_MAX
};

static uint64_t round_up(uint64_t size) {
    return (size + PAGE - 1) / PAGE * PAGE;
}

/* Sets RANGES to the memory of the thread's process: of files, or with ALL all of it. */
static void read_ranges(const struct recorded_thread *thread, struct arena *arena, bool all,
                        address_range_list *ranges) {
    struct memory_map map;
    struct memory_mapping mapping;
    ranges->count = 0;
    memory_map_open(&map, thread->number);
    while (memory_map_next(&map, &mapping))
        if (all || mapping.is_file)
            vector_push(arena, ranges, ((struct address_range){mapping.start, mapping.end}));
    memory_map_close(&map);
}

/* Adds what is between START and END now. Behind the end of a file there is nothing. */
static void record_range(struct recorded_thread *thread, uint64_t start, uint64_t end) {
    static uint8_t bytes[PIECE];
    for (uint64_t at = start, size; at < end; at += size) {
        size = end - at < PIECE ? end - at : PIECE;
        while (size > PAGE && !read_memory(thread->number, at, bytes, size))
            size = round_up(size / 2);
        if (size > PAGE || read_memory(thread->number, at, bytes, size))
            add_recorded_memory(thread, at, bytes, size, NULL);
    }
}

/* Adds what RANGES have between START and END. */
static void record_ranges(struct recorded_thread *thread, const address_range_list *ranges,
                          uint64_t start, uint64_t end) {
    for (size_t i = 0; i < ranges->count; i++) {
        uint64_t from = ranges->data[i].start, to = ranges->data[i].end;
        if (from < end && start < to)
            record_range(thread, from > start ? from : start, to < end ? to : end);
    }
}

static void record_files_between(struct recorded_thread *thread, uint64_t start, uint64_t end) {
    struct recorded_process *process = thread->process;
    if (!process->knows_files || process->shares_all || process->inside.is_shared)
        read_ranges(thread, &process->arena, false, &process->files);
    process->knows_files = true;
    record_ranges(thread, &process->files, start, end);
}

static void record_all_between(struct recorded_thread *thread, uint64_t start, uint64_t end) {
    address_range_list ranges = {0};
    read_ranges(thread, &thread->effects.arena, true, &ranges);
    record_ranges(thread, &ranges, start, end);
}

static void record_advice(struct recorded_thread *thread) {
    const uint64_t *arguments = thread->call.arguments;
    uint64_t start = arguments[0], end = start + round_up(arguments[1]);
    bool drops = arguments[2] == MADV_DONTNEED || arguments[2] == MADV_DONTNEED_LOCKED;
    if (arguments[2] == MADV_REMOVE || (drops && thread->call.result < 0))
        record_all_between(thread, start, end);
    else if (drops)
        record_files_between(thread, start, end);
}

static void record_move(struct recorded_thread *thread) {
    const uint64_t *arguments = thread->call.arguments;
    uint64_t old = arguments[0], result = (uint64_t)thread->call.result;
    uint64_t old_size = round_up(arguments[1]), size = round_up(arguments[2]);
    thread->process->knows_files = false;
    if (size > old_size)
        record_files_between(thread, result + old_size, result + size);
    if (arguments[3] & MREMAP_DONTUNMAP)
        record_files_between(thread, old, old + old_size);
}

void record_reset(struct recorded_thread *thread) {
    const struct system_call *call = &thread->call;
    if (call->number == SYS_madvise)
        record_advice(thread);
    else if (call->number == SYS_mremap && call->result >= 0)
        record_move(thread);
    else if (call->number == SYS_mmap && !(call->arguments[3] & MAP_ANONYMOUS))
        thread->process->knows_files = false;
}
