/* play_data.c: the data files of programs that count, which stay when their processes have ended;
 * see play.h.
 *
 * A process maps a file of its own, and nobody else reads it, so it is private memory in a replay.
 * Where the counts are wanted it is a part of the memory that the player shares with the processes,
 * behind the files that are shared. The header is mapped first, at offset 0. Chunks that are not
 * mapped are written by a call. */
#include "replay/play.h"

#include "format/data_file.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t player_shared_end(void) {
    return QUIPU_SHARED_MAX * QUIPU_SHARED_ROOM;
}

/* Returns where in the shared memory the part NUMBER, from 1, begins. */
static uint64_t part_begin(unsigned number) {
    return player_shared_end() + (uint64_t)(number - 1) * QUIPU_SHARED_ROOM;
}

bool place_data(struct player *player, const struct system_call *call, uint64_t *place) {
    struct play_process *process = player->thread->process;
    uint64_t flags = call->arguments[3], offset = call->arguments[5];
    if (!player->hooks->keeps_data || !(flags & MAP_SHARED) || flags & MAP_ANONYMOUS ||
        !(call->arguments[2] & PROT_WRITE) || offset >= QUIPU_SHARED_ROOM ||
        call->arguments[1] > QUIPU_SHARED_ROOM - offset)
        return false;
    if (offset == 0 && call->arguments[1] == QUIPU_PAGE) {
        unsigned number = player->data_files + 1;
        if (ftruncate(player->shared, (off_t)part_begin(number + 1)) != 0)
            return false;
        process->data = player->data_files = number;
    }
    *place = process->data ? part_begin(process->data) + offset : 0;
    return process->data;
}

void keep_data(struct player *player, const struct system_call *call) {
    struct quipu_file header;
    struct quipu_chunk chunk;
    const struct play_process *process = player->thread->process;
    uint64_t size = call->arguments[2], offset = call->arguments[3];
    if (!player->hooks->keeps_data || !process->data || call->number != SYS_pwrite64 ||
        call->result != (int64_t)size || size < sizeof chunk ||
        pread(player->shared, &header, sizeof header, (off_t)part_begin(process->data)) !=
            (ssize_t)sizeof header ||
        offset < QUIPU_PAGE || offset > header.size || offset % QUIPU_PAGE ||
        !read_memory(player->process, call->arguments[1], &chunk, sizeof chunk) ||
        chunk.size != size || chunk.kind < QUIPU_MODULE || chunk.kind > QUIPU_LOAD)
        return;
    uint8_t *bytes = arena_alloc(&player->event_arena, size);
    if (read_memory(player->process, call->arguments[1], bytes, size) &&
        pwrite(player->shared, bytes, size, (off_t)(part_begin(process->data) + offset)) !=
            (ssize_t)size)
        end_by_difference(player, "writes a data file for which there is no memory");
}

unsigned player_data_files(const struct player *player) {
    return player->data_files;
}

uint64_t player_data_place(unsigned number) {
    return part_begin(number);
}
