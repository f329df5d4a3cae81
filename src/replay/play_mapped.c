/* play_mapped.c: mapped files of a play without a debugger; see play.h.
 *
 * What is mapped of files is kept once, in a file in memory, as it is in the processes: so that a
 * process maps its part of that, and nothing is copied. Most processes of a run map the same
 * libraries. A debugger compares the memory of processes by pages, and gets private copies.
 *
 * Not perfect: a mapping of more than 64 MB is copied, and so is what comes behind 1 GB of them. */
#include "replay/play.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    MAPPED_MOST = 64 << 20,
    ALL_MOST = 1 << 30
};

static uint64_t whole_pages(uint64_t size) {
    return (size + PAGE - 1) & -(uint64_t)PAGE;
}

/* Sets PART to the contents that MEMORY puts into the mapping of CALL. */
static bool part_of_memory(const struct system_call *call, const struct memory_event *memory,
                           struct mapped_part *part) {
    uint64_t size = whole_pages(call->arguments[1]);
    uint64_t offset = memory->address - (uint64_t)call->result;
    *part = (struct mapped_part){.contents = memory->contents,
                                 .place = (uint32_t)memory->place,
                                 .size = (uint32_t)memory->size,
                                 .offset = (uint32_t)offset};
    return offset < size && memory->size <= size - offset;
}

/* Lists the contents of the mapping of CALL in `parts`. Returns false if there are none, or not all
 * are of it. */
static bool list_parts(struct player *player, const struct system_call *call) {
    struct mapped_part part;
    player->parts.count = 0;
    for (size_t i = 0; i < player->memory.count; i++) {
        const struct memory_event *memory = &player->memory.data[i];
        if (!memory->contents)
            continue;
        if (!part_of_memory(call, memory, &part))
            return false;
        vector_push(player->arena, &player->parts, part);
    }
    return player->parts.count;
}

/* Returns the mapping of SIZE bytes that has `parts`, or NULL. */
static const struct mapped_file *find_mapped(const struct player *player, uint64_t size) {
    const size_t count = player->parts.count;
    for (size_t i = 0; i < player->mapped.count; i++) {
        const struct mapped_file *mapped = &player->mapped.data[i];
        if (mapped->size == size && mapped->count == count &&
            memcmp(mapped->parts, player->parts.data, count * sizeof *mapped->parts) == 0)
            return mapped;
    }
    return NULL;
}

/* Writes PART of what begins at PLACE of the file. */
static bool write_part(struct player *player, uint64_t place, const struct mapped_part *part) {
    struct memory_event memory = {
        .contents = part->contents, .place = part->place, .size = part->size};
    return !recording_contents(&player->recording, &memory) &&
           pwrite(player->mapped_file, memory.bytes, memory.size, (off_t)(place + part->offset)) ==
               (ssize_t)memory.size;
}

/* Adds a mapping of SIZE bytes with `parts` to the file. Returns NULL if it has no room. */
static const struct mapped_file *add_mapped(struct player *player, uint64_t size) {
    const uint64_t place = player->mapped_end;
    const size_t count = player->parts.count;
    struct mapped_file mapped = {.place = place, .size = size, .count = count};
    if (size > ALL_MOST - place || ftruncate(player->mapped_file, (off_t)(place + size)) != 0)
        return NULL;
    player->mapped_end += size;
    for (size_t i = 0; i < count; i++)
        if (!write_part(player, place, &player->parts.data[i]))
            return NULL;
    mapped.parts = arena_alloc(player->arena, count * sizeof *mapped.parts);
    memcpy(mapped.parts, player->parts.data, count * sizeof *mapped.parts);
    vector_push(player->arena, &player->mapped, mapped);
    return &player->mapped.data[player->mapped.count - 1];
}

bool place_mapped(struct player *player, const struct system_call *call, uint64_t *place) {
    uint64_t size = whole_pages(call->arguments[1]);
    if (!player->hooks->gives_inside || call->arguments[3] & MAP_ANONYMOUS || size > MAPPED_MOST ||
        !list_parts(player, call))
        return false;
    const struct mapped_file *mapped = find_mapped(player, size);
    if (!mapped)
        mapped = add_mapped(player, size);
    if (!mapped)
        return false;
    *place = mapped->place;
    for (size_t i = 0; i < player->memory.count; i++)
        if (player->memory.data[i].contents)
            player->memory.data[i].contents = player->memory.data[i].size = 0; /* it is there */
    return true;
}
