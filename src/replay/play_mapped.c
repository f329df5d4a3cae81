/* play_mapped.c: mapped files of a play without a debugger; see play.h.
 *
 * The contents of mapped files are in a file in memory, which all processes inherit. They map it,
 * so nothing is copied for each of them. A debugger compares the memory of processes by pages, and
 * gets private copies.
 *
 * The contents have slots in the order of their numbers. The pieces of a file mostly have numbers
 * in a row, so they are adjacent, as in that file. A library is first mapped with all that it will
 * have, beyond its end: behind its last slot, which then is the last one of all, that room is left.
 * Where a mapping has other contents, a copy of all of it is made behind the slots.
 *
 * Not perfect: a copy of more than 256 MB is not made, and contents have no slots behind the first
 * GB. Then they are written to each process. */
#include "replay/play.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    SLOT = QUIPU_RECORDING_MEMORY_MAX,
    SLOTS_MOST = (1 << 30) / SLOT,
    COPY_MOST = 256 << 20,
    COPIES_MOST = 1 << 30
};

/* Where copies begin: slots with the room behind them do not come near. */
static const uint64_t copies_begin = (uint64_t)1 << 41;

static uint64_t whole_pages(uint64_t size) {
    return (size + PAGE - 1) & -(uint64_t)PAGE;
}

/* ---- slots ---- */

void begin_mapped_file(struct player *player) {
    player->mapped_file = memfd_create("mapped", 0);
    if (player->mapped_file >= 0 && ftruncate(player->mapped_file, (off_t)copies_begin) != 0) {
        close(player->mapped_file);
        player->mapped_file = -1;
    }
}

void store_contents(struct player *player) {
    struct event copy = player->event;
    struct cursor contents;
    uint32_t number;
    if (!player->hooks->gives_inside || !read_contents_event(&copy, &number, &contents))
        return;
    if (player->slots.count == 0)
        player->first_contents = number;
    const size_t size = cursor_left(&contents);
    const struct mapped_slot slot = {.place = player->slots_end, .size = (uint32_t)size};
    bool is_next = number - player->first_contents == player->slots.count;
    if (!is_next || player->slots.count == SLOTS_MOST || size > SLOT ||
        pwrite(player->mapped_file, contents.next, size, (off_t)slot.place) != (ssize_t)size)
        return;
    vector_push(player->arena, &player->slots, slot);
    player->slots_end += SLOT;
}

/* Returns the slot of the contents NUMBER, or NULL. */
static const struct mapped_slot *find_slot(const struct player *player, uint32_t number) {
    const uint32_t index = number - player->first_contents;
    return index < player->slots.count ? &player->slots.data[index] : NULL;
}

/* Whether PART, at PLACE of the file, is all that its slot has for a mapping up to END. */
static bool fills_slot(const struct player *player, const struct mapped_part *part, uint64_t place,
                       uint64_t end) {
    const struct mapped_slot *slot = find_slot(player, part->contents);
    if (!slot || place != slot->place + part->place)
        return false;
    const uint64_t filled = slot->place + slot->size;
    return place + part->size >= (filled < end ? filled : end);
}

/* Whether SLOT has nothing but zeros behind it up to END. From now on it has. */
static bool reserve(struct player *player, const struct mapped_slot *slot, uint64_t end) {
    const struct mapped_slot *next = slot + 1;
    if (next < player->slots.data + player->slots.count)
        return end <= next->place;
    if (end > player->slots_end + COPY_MOST)
        return false;
    while (player->slots_end < end)
        player->slots_end += SLOT;
    return true;
}

/* If the slots have what a mapping of SIZE bytes with `parts` has, sets PLACE to where that begins.
 */
static bool find_in_slots(struct player *player, uint64_t size, uint64_t *place) {
    const struct mapped_part *first = player->parts.data;
    const size_t count = player->parts.count;
    const struct mapped_slot *slot = find_slot(player, first->contents);
    if (!slot || first->offset != 0)
        return false;
    *place = slot->place + first->place;
    const uint64_t end = *place + size;
    for (size_t i = 0; i < count; i++) {
        const struct mapped_part *part = &first[i];
        if (part->contents != first->contents + i || (i && part->place != 0) ||
            !fills_slot(player, part, *place + part->offset, end))
            return false;
    }
    return *place % PAGE == 0 && reserve(player, &slot[count - 1], end);
}

/* ---- copies ---- */

/* Returns the copy of SIZE bytes that has `parts`, or NULL. */
static const struct mapped_file *find_copy(const struct player *player, uint64_t size) {
    const size_t count = player->parts.count;
    for (size_t i = 0; i < player->mapped.count; i++) {
        const struct mapped_file *mapped = &player->mapped.data[i];
        if (mapped->size == size && mapped->count == count &&
            memcmp(mapped->parts, player->parts.data, count * sizeof *mapped->parts) == 0)
            return mapped;
    }
    return NULL;
}

static bool write_part(struct player *player, uint64_t place, const struct mapped_part *part) {
    struct memory_event memory = {
        .contents = part->contents, .place = part->place, .size = part->size};
    return !recording_contents(&player->recording, &memory) &&
           pwrite(player->mapped_file, memory.bytes, memory.size, (off_t)(place + part->offset)) ==
               (ssize_t)memory.size;
}

/* Returns NULL if there is no room. */
static const struct mapped_file *add_copy(struct player *player, uint64_t size) {
    const uint64_t place = copies_begin + player->copies;
    const size_t count = player->parts.count;
    struct mapped_file mapped = {.place = place, .size = size, .count = count};
    if (size > COPY_MOST || size > COPIES_MOST - player->copies ||
        ftruncate(player->mapped_file, (off_t)(place + size)) != 0)
        return NULL;
    player->copies += size;
    for (size_t i = 0; i < count; i++)
        if (!write_part(player, place, &player->parts.data[i]))
            return NULL;
    mapped.parts = arena_alloc(player->arena, count * sizeof *mapped.parts);
    memcpy(mapped.parts, player->parts.data, count * sizeof *mapped.parts);
    vector_push(player->arena, &player->mapped, mapped);
    return &player->mapped.data[player->mapped.count - 1];
}

/* ---- mappings ---- */

/* Adds to `parts` what MEMORY puts into the mapping of CALL. Returns false if it is elsewhere. */
static bool note_part(struct player *player, const struct system_call *call,
                      const struct memory_event *memory) {
    uint64_t size = whole_pages(call->arguments[1]);
    uint64_t offset = memory->address - (uint64_t)call->result;
    const struct mapped_part part = {
        .contents = memory->contents,
        .place = (uint32_t)memory->place,
        .size = memory->size,
        .offset = offset,
    };
    vector_push(player->arena, &player->parts, part);
    return offset < size && memory->size <= size - offset;
}

/* Lists the contents of the mapping of CALL in `parts`. Returns false if there are none, or not all
 * are of it. */
static bool list_parts(struct player *player, const struct system_call *call) {
    bool good = true;
    player->parts.count = 0;
    for (size_t i = 0; i < player->memory.count && good; i++)
        if (player->memory.data[i].contents)
            good = note_part(player, call, &player->memory.data[i]);
    return good && player->parts.count;
}

bool place_mapped(struct player *player, const struct system_call *call, uint64_t *place) {
    uint64_t size = whole_pages(call->arguments[1]);
    if (!player->hooks->gives_inside || call->arguments[3] & MAP_ANONYMOUS ||
        !list_parts(player, call))
        return false;
    if (!find_in_slots(player, size, place)) {
        const struct mapped_file *copy = find_copy(player, size);
        if (!copy)
            copy = add_copy(player, size);
        if (!copy)
            return false;
        *place = copy->place;
    }
    for (size_t i = 0; i < player->memory.count; i++)
        if (player->memory.data[i].contents)
            player->memory.data[i].contents = player->memory.data[i].size = 0; /* it is there */
    return true;
}
