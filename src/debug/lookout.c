/* lookout.c: goes from write to write; see lookout.h. */
#include "debug/lookout.h"

#include "debug/program.h"
#include "tracee/store.h"
#include "tracee/tracee.h"
#include "util/diag.h"
#include "x86/accessed.h"

#include <stdlib.h>
#include <string.h>

enum {
    ANY_WATCH = (1 << WATCHES_MAX) - 1,
    INSTRUCTION_MAX = 15 /* bytes */
};

/* ---- ranges ---- */

void lookout_forget(struct lookout *lookout) {
    for (size_t i = 0; i < lookout->count; i++) {
        free(lookout->ranges[i].old);
        free(lookout->ranges[i].now);
    }
    lookout->count = 0;
    take_points_out(lookout->timeline);
    points_clear(&lookout->timeline->points);
}

static void read_now(const struct lookout *lookout, struct lookout_range *range) {
    range->is_there =
        read_memory(timeline_process(lookout->timeline), range->address, range->now, range->size);
    if (!range->is_there)
        memset(range->now, 0, range->size);
}

bool lookout_watches(const struct lookout *lookout, const struct lookout_range *ranges,
                     size_t count) {
    bool is_same = lookout->count == count;
    for (size_t i = 0; i < count && is_same; i++)
        is_same = lookout->ranges[i].address == ranges[i].address &&
                  lookout->ranges[i].size == ranges[i].size;
    return is_same;
}

const char *lookout_watch(struct lookout *lookout, const struct lookout_range *ranges,
                          size_t count) {
    lookout_forget(lookout);
    CHECK(count <= LOOKOUT_RANGES);
    lookout->serial = program_of(lookout->timeline)->serial;
    for (size_t i = 0; i < count; i++) {
        struct lookout_range *range = &lookout->ranges[lookout->count++];
        *range = (struct lookout_range){.address = ranges[i].address, .size = ranges[i].size};
        range->old = calloc(1, range->size);
        range->now = calloc(1, range->size);
        CHECK(range->old && range->now);
        read_now(lookout, range);
        const char *wrong =
            points_add(&lookout->timeline->points, POINT_WRITE, range->address, range->size);
        if (wrong)
            return wrong;
    }
    points_look(&lookout->timeline->points, timeline_process(lookout->timeline));
    return NULL;
}

void lookout_begin(struct lookout *lookout, struct timeline *timeline) {
    *lookout = (struct lookout){.timeline = timeline};
    timeline->each_write = true;
    begin_motion(timeline);
}

void lookout_end(struct lookout *lookout) {
    lookout_forget(lookout);
    end_motion(lookout->timeline);
    lookout->timeline->each_write = false;
}

const char *lookout_watch_expression(struct lookout *lookout, const struct expression *expression) {
    struct lookout_range ranges[LOOKOUT_RANGES];
    size_t count = 0;
    struct process_memory memory =
        process_memory(timeline_process(lookout->timeline), program_of(lookout->timeline)->bias);
    for (size_t i = 0; i < expression->objects.count; i++) {
        const struct node *object = expression->objects.data[i];
        uint64_t address,
            size = object->bits ? (object->bit + object->bits + 7) / 8 : object->type.size;
        if (!object_address(object, &memory.memory, &address) || address < NULL_PAGE || !size)
            continue;
        if (count == LOOKOUT_RANGES)
            return "the expression reads too many objects";
        ranges[count++] = (struct lookout_range){.address = address, .size = size};
    }
    return lookout_watches(lookout, ranges, count) ? NULL : lookout_watch(lookout, ranges, count);
}

/* ---- the writer ---- */

/* The code of a function is decoded anew where it may be another instruction the next time. */
static uint64_t find_instruction(struct lookout *lookout) {
    struct timeline *timeline = lookout->timeline;
    pid_t process = timeline_process(timeline);
    struct watch watch;
    const struct played_program *program = program_of(timeline);
    uint64_t stop = next_instruction(process), last = lookout->last_write;
    lookout->last_write = stop;
    if (stop == lookout->known_stop)
        return lookout->known_instruction;
    if (!program->binary || !points_cover(&timeline->points, &watch))
        return 0;
    unsigned written = player_written(timeline->player); /* none behind a step over a breakpoint */
    uint64_t found = find_writing_instruction(&(struct code_of){program->binary, program->bias},
                                              process, &watch, written ? written : ANY_WATCH, last);
    bool is_certain = found && found < stop && last != stop;
    lookout->known_stop = is_certain ? stop : 0;
    lookout->known_instruction = found;
    return found;
}

/* Whether RANGE has a byte that a debug register tells of as written. */
static bool is_told(const struct lookout *lookout, struct lookout_range *range) {
    struct watch watch;
    unsigned written = player_written(lookout->timeline->player);
    if (!points_cover(&lookout->timeline->points, &watch))
        return false;
    for (size_t i = 0; i < watch.count; i++) {
        uint64_t place = watch.addresses[i] - range->address;
        if (!(written >> i & 1) || place >= range->size)
            continue;
        range->begin = range->begin == range->end ? place : range->begin;
        range->end = place + watch.sizes[i];
    }
    return range->begin < range->end;
}

/* Sets BEGIN and END of what the instruction has stored, if that is known. */
static bool find_stored(const struct lookout *lookout, uint64_t *begin, uint64_t *end) {
    uint8_t code[INSTRUCTION_MAX];
    size_t size = sizeof code;
    pid_t process = timeline_process(lookout->timeline);
    while (size && !read_memory(process, lookout->instruction, code, size))
        size--;
    return size && stored_range(code, size, lookout->instruction, process, begin, end);
}

static void find_changed(struct lookout_range *range) {
    for (size_t i = 0; i < range->size; i++) {
        if (range->old[i] == range->now[i])
            continue;
        range->begin = range->end ? range->begin : i;
        range->end = i + 1;
    }
}

/* Sets which bytes of each range were written. TOLD: debug registers tell of them. Returns whether
 * there are any. */
static bool find_written(struct lookout *lookout, bool told) {
    uint64_t first, behind;
    bool is_stored =
        lookout->instruction && !lookout->is_call && find_stored(lookout, &first, &behind);
    bool any = false;
    for (size_t i = 0; i < lookout->count; i++) {
        struct lookout_range *range = &lookout->ranges[i];
        uint64_t end = range->address + range->size;
        range->begin = range->end = 0;
        if (!range->is_there)
            continue; /* it was unmapped, or the process has ended */
        find_changed(range);
        if (is_stored && first < end && behind > range->address) {
            range->begin = first > range->address ? first - range->address : 0;
            range->end = behind < end ? behind - range->address : range->size;
        } else if (told && range->begin == range->end) {
            is_told(lookout, range);
        }
        any |= range->begin < range->end || !range->was_there;
    }
    return any;
}

/* ---- going on ---- */

static void look(struct lookout *lookout) {
    for (size_t i = 0; i < lookout->count; i++) {
        struct lookout_range *range = &lookout->ranges[i];
        uint8_t *former = range->old;
        range->old = range->now;
        range->now = former;
        range->was_there = range->is_there;
        read_now(lookout, range);
    }
}

bool lookout_take(struct lookout *lookout, uint64_t before) {
    struct timeline *timeline = lookout->timeline;
    bool steps = points_need_steps(&timeline->points);
    if (program_of(timeline)->serial != lookout->serial)
        return false;
    lookout->is_call = is_slice_begin(&timeline->here);
    lookout->thread =
        lookout->is_call ? player_event_thread(timeline->player) : player_thread(timeline->player);
    look(lookout);
    if (lookout->is_call)
        lookout->instruction = player_event_address(timeline->player);
    else
        lookout->instruction = steps ? before : find_instruction(lookout);
    return find_written(lookout, !steps && !lookout->is_call);
}

enum halt_kind lookout_next(struct lookout *lookout) {
    struct timeline *timeline = lookout->timeline;
    for (;;) {
        player_select(timeline->player);
        uint64_t before = next_instruction(timeline_process(timeline));
        struct halt halt = advance(timeline, false);
        switch (halt.kind) {
        case HALT_WATCH:
            if (lookout_take(lookout, before))
                return HALT_WATCH;
            break;
        case HALT_END:
        case HALT_INTERRUPT:
            return halt.kind;
        case HALT_EVENT:
        case HALT_TIMER:
            if (lookout->keeps)
                keep_on_the_way(timeline);
            break;
        default:
            break;
        }
    }
}
