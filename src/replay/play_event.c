/* play_event.c: the events of a recording, one after the other, and how a play ends; see play.h. */
#include "replay/play.h"

#include "x86/registers.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- the end ---- */

void end_play(struct player *player, enum played end, const char *message) {
    if (player->ended)
        return;
    player->ended = true;
    player->playing.end = end;
    player->playing.message = message;
}

/* Returns which thread plays, if there are several. */
static const char *describe_thread(const struct player *player) {
    const struct play_thread *thread = player->thread;
    if (player->threads.count < 2 || !thread || !thread->process)
        return "";
    for (size_t i = 0; i < player->threads.count; i++)
        if (player->threads.data[i] == thread)
            return arena_print(player->arena, " of thread %zu, in the process that was %d", i + 1,
                               (int)thread->process->recorded);
    return "";
}

void end_by_difference(struct player *player, const char *does) {
    struct user_regs_struct registers = {0};
    get_general_registers(player->process, &registers);
    end_play(player, PLAYED_DIFFERS,
             arena_print(player->arena,
                         "the run differs from the recording behind %llu system calls and %llu "
                         "signals, at address 0x%llx%s: it %s",
                         (unsigned long long)player->playing.calls,
                         (unsigned long long)player->playing.signals,
                         (unsigned long long)registers.rip, describe_thread(player), does));
}

bool is_same_hash(const struct player *player, uint32_t hash, uint32_t recorded) {
    return hash == recorded || player->hooks->is_armed;
}

void end_by_corruption(struct player *player) {
    end_play(player, PLAYED_WRONG,
             arena_print(player->arena, "'%s' is corrupt: an event behind %llu system calls",
                         player->recording.path, (unsigned long long)player->playing.calls));
}

/* ---- events ---- */

/* Memory events are copied: the next block may replace them. Contents are read where they are
 * written. */
static bool keep_memory(struct player *player, struct event *event) {
    struct memory_event memory;
    if (!read_memory_event(event, &memory))
        return false;
    if (memory.bytes && memory.size) {
        uint8_t *bytes = arena_alloc(&player->event_arena, memory.size);
        memcpy(bytes, memory.bytes, memory.size);
        memory.bytes = bytes;
    }
    vector_push(&player->event_arena, &player->memory, memory);
    return true;
}

/* The event tells of an instruction that the recorder has replaced. */
static void note_site(struct player *player) {
    struct site_event site;
    uint32_t id = player->event.thread;
    if (!player->hooks->gives_inside || !read_site_event(&player->event, &site) || !id ||
        id > player->threads.count || !player->threads.data[id - 1]->process)
        return;
    struct inside_plan *plan = ARENA_NEW(player->arena, struct inside_plan);
    *plan = (struct inside_plan){.padding = (int16_t)site.padding, .moved = site.moved};
    memcpy(plan->code, site.code, (size_t)CALL_SIZE + site.moved);
    if (site.padding_code)
        memcpy(plan->padding_code, site.padding_code, CALL_JUMP_SIZE);
    struct play_process *process = player->threads.data[id - 1]->process;
    vector_push(player->arena, &process->sites, ((struct play_site){site.address, plan}));
}

bool peek_event(struct player *player) {
    const char *wrong = NULL;
    while (!player->has_event) {
        enum reading reading = recording_next(&player->recording, &player->event, &wrong);
        if (reading == READING_CUT)
            end_play(player, PLAYED_CUT, NULL);
        else if (reading == READING_WRONG)
            end_play(player, PLAYED_WRONG, wrong);
        if (reading != READING_EVENT)
            return false;
        if (player->event.kind == QUIPU_EVENT_CONTENTS)
            store_contents(player);
        if (player->event.kind == QUIPU_EVENT_CONTENTS || player->event.kind == QUIPU_EVENT_FILE)
            continue;
        if (player->event.kind == QUIPU_EVENT_SITE) {
            note_site(player);
            continue;
        }
        if (player->event.kind != QUIPU_EVENT_MEMORY) {
            player->has_event = true;
        } else if (!keep_memory(player, &player->event)) {
            end_by_corruption(player);
            return false;
        }
    }
    return true;
}

const struct memory_event *find_shared_mapping(const struct player *player) {
    for (size_t i = 0; i < player->memory.count; i++)
        if (player->memory.data[i].argument == QUIPU_MEMORY_SHARED)
            return &player->memory.data[i];
    return NULL;
}

uint64_t shared_place(const struct memory_event *mapping) {
    return (mapping->shared - 1) * QUIPU_SHARED_ROOM + mapping->place;
}

static bool has_bytes(struct player *player, uint64_t address, const uint8_t *bytes, size_t size) {
    uint8_t *now = arena_alloc(&player->event_arena, size);
    return read_memory(player->process, address, now, size) && memcmp(now, bytes, size) == 0;
}

/* Writes to the process. What has just been mapped as shared may be read-only there, so that is
 * written by its file. What was mapped so before cannot be written, and has its bytes. */
static bool write_bytes(struct player *player, uint64_t address, const uint8_t *bytes,
                        size_t size) {
    const struct memory_event *mapping = find_shared_mapping(player);
    if (!mapping || address < mapping->address || address - mapping->address >= mapping->size)
        return write_memory(player->process, address, bytes, size) ||
               has_bytes(player, address, bytes, size);
    uint64_t place = shared_place(mapping) + (address - mapping->address);
    return pwrite(player->shared, bytes, size, (off_t)place) == (ssize_t)size;
}

bool write_shared_file(struct player *player, const struct memory_event *memory) {
    off_t place = (off_t)shared_place(memory);
    off_t left = (off_t)(QUIPU_SHARED_ROOM - memory->place);
    if (memory->size)
        return pwrite(player->shared, memory->bytes, memory->size, place) == (ssize_t)memory->size;
    return left == 0 ||
           fallocate(player->shared, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place, left) == 0;
}

bool write_event_memory(struct player *player, const uint64_t arguments[6]) {
    for (size_t i = 0; i < player->memory.count; i++) {
        struct memory_event *memory = &player->memory.data[i];
        uint64_t address = memory->address;
        if (recording_contents(&player->recording, memory)) {
            end_by_corruption(player);
            return false;
        }
        if (memory->argument == QUIPU_MEMORY_FILE) {
            if (write_shared_file(player, memory))
                continue;
            end_by_difference(player, "cannot write what it shares");
            return false;
        }
        if (memory->argument < QUIPU_MEMORY_ADDRESS)
            address = arguments ? arguments[memory->argument] : 0;
        if (memory->bytes && memory->size &&
            !write_bytes(player, address, memory->bytes, memory->size)) {
            end_by_difference(player, arena_print(player->arena, "has no memory at 0x%llx",
                                                  (unsigned long long)address));
            return false;
        }
    }
    return true;
}

void forget_event(struct player *player) {
    arena_clear(&player->event_arena);
    player->memory.count = player->memory.capacity = 0;
    player->memory.data = NULL;
    player->has_event = player->announced = player->has_state_place = false;
}

void pass_event(struct player *player) {
    forget_event(player);
    player->place = recording_tell(&player->recording);
    player->steps = 0;
}

void finish_event(struct player *player) {
    if (player->counts)
        player->event_thread = player->thread->recorded;
    player->events += player->counts;
    pass_event(player);
    while (!player->ended && peek_event(player) && play_quietly(player))
        pass_event(player);
}
