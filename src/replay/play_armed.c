/* play_armed.c: where a tick of the recording is in a program whose sites of traces are armed; see
 * play.h.
 *
 * Small loops have two forms (symbols/loop_forms.h). The recorded run executed the unrolled one,
 * and the replay executes the other one. A moment is an instruction and the ticks there: those of
 * the cells, and those above them. So the place is found by its moment. */
#include "replay/play.h"

#include "format/jump.h"
#include "format/watch.h"
#include "symbols/event_tables.h"
#include "symbols/loop_forms.h"
#include "symbols/sites.h"
#include "x86/decode.h"

#include <string.h>

/* Returns the address to which a site between the two forms leads, if ADDRESS is one; otherwise 0.
 */
static uint64_t behind_loop_site(const struct binary *binary, uint64_t address) {
    struct site_table table = find_sites(binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        if (site.size == QUIPU_SITE_TRACE_LOOP && site.place == address)
            return site.code;
    }
    return 0;
}

/* Returns the address to which the direct jump at ADDRESS leads, if it is one; otherwise 0. */
static uint64_t behind_jump(const struct binary *binary, uint64_t address) {
    size_t room;
    struct decoded decoded;
    const uint8_t *code = binary_code(binary, address, &room);
    if (!code || !decode_instruction(code, room, &decoded) || decoded.class != CLASS_JUMP)
        return 0;
    return address + decoded.size + (uint64_t)jump_distance(code);
}

static int64_t ticks_above(const struct binary *binary, uint64_t address) {
    int64_t sums[QUIPU_EVENTS] = {0};
    if (has_events_at(binary, address))
        add_events_above(binary, address, 0, sums);
    return sums[QUIPU_EVENT_TICKS];
}

bool refuse_armed(struct player *player) {
    if (player->event.kind == QUIPU_EVENT_LOOP)
        end_play(
            player, PLAYED_WRONG,
            "a thread waits in a loop without system calls; where it stood there is not found while a trace "
            "is recorded");
    return player->ended;
}

/* Returns the site whose code is entered by the instruction at ADDRESS; or one without code. */
static struct linked_site find_site_at(const struct binary *binary, uint64_t address) {
    struct site_table table = find_sites(binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        if ((site.size == QUIPU_SITE_TRACE && site.place == address) ||
            (site.size == QUIPU_SITE_TRACE_JUMP && site.place == address + X86_CONDITIONAL_OPCODE))
            return site;
    }
    return (struct linked_site){0};
}

/* Returns where the code of SITE leads back to. */
static uint64_t behind_site(const struct binary *binary, const struct linked_site *site) {
    size_t room;
    int32_t distance = 0;
    if (site->size == QUIPU_SITE_TRACE)
        return site->place + X86_JUMP_SIZE;
    const uint8_t *code = binary_code(binary, site->place, &room);
    if (code && room >= sizeof distance)
        memcpy(&distance, code, sizeof distance);
    return site->place + sizeof distance + (uint64_t)(int64_t)distance;
}

/* Whether the instruction at ADDRESS is in a loop that has two forms, or leads there. */
static bool has_other_form(const struct binary *binary, uint64_t address) {
    struct site_table table = find_sites(binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site row = read_site(&table, i);
        if (row.size == QUIPU_SITE_TRACE_LOOP ? row.place == address
                                              : row.size == QUIPU_SITE_TRACE_COPY &&
                                                    (address - row.place < row.target - row.code ||
                                                     address - row.code < row.target - row.code))
            return true;
    }
    return false;
}

bool is_recorded_step(struct player *player, uint64_t next) {
    struct play_thread *thread = player->thread;
    const struct tick_code *code = thread->process->ticks.code;
    if (!code)
        return true;
    uint64_t last = player->last - code->bias;
    if (thread->behind_site) {
        if (next == thread->behind_site)
            thread->behind_site = 0;
        return false;
    }
    if (has_other_form(code->binary, last)) {
        end_play(
            player, PLAYED_WRONG,
            "a random turn (--shuffle) ends in a small loop, where no place between ticks is found while a trace is "
            "recorded");
        return true;
    }
    struct linked_site site = find_site_at(code->binary, last);
    if (site.code && next == site.code + code->bias)
        thread->behind_site = behind_site(code->binary, &site) + code->bias;
    return true;
}

void find_armed_place(const struct tick_code *code, struct tick_place *place) {
    enum {
        JUMPS_MOST = 4
    };
    const struct binary *binary = code->binary;
    uint64_t address = place->address - code->bias, next = address;
    for (int i = 0; i < JUMPS_MOST && next; i++) {
        address = next;
        next = behind_loop_site(binary, address);
        if (!next)
            next = behind_jump(binary, address);
    }
    place->count +=
        (uint64_t)(ticks_above(binary, place->address - code->bias) - ticks_above(binary, address));
    place->address = recorded_form(binary, address) + code->bias;
}
