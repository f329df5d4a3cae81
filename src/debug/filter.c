/* filter.c: see filter.h.
 *
 * Not perfect: where an indirect jump, or a direct one from far away, leads to the second of the
 * replaced instructions, the process goes astray. It is a copy, and does not come to the target
 * then, as that is known by all of its state. */
#include "debug/filter.h"

#include "tracee/free_memory.h"
#include "tracee/tracee.h"
#include "x86/kernel.h"
#include "x86/pass_filter.h"
#include "x86/trap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    CODE_READ = 48,
    AROUND = 8192,    /* bytes in front and behind that are looked at for jumps */
    FALSE_MOST = 200, /* passes with the target's registers, and other memory */
    SHIFT_MOST = 1000 /* instructions */
};

#define REACH ((uint64_t)1 << 30) /* of a jump, with a margin */

/* A filter in a process. */
struct inserted_filter {
    struct pass_filter filter;
    uint64_t address;
    uint8_t former[FILTER_JUMP_SIZE];
};

/* Whether an instruction near by may jump to the second or a later one of SIZE bytes at ADDRESS. */
static bool is_jumped_into(pid_t process, uint64_t address, size_t size) {
    static uint8_t code[2 * AROUND];
    uint64_t begin = address - address % FILTER_SIZE, end = begin;
    while (end < begin + AROUND && read_memory(process, end, code + (end - begin), FILTER_SIZE))
        end += FILTER_SIZE;
    uint64_t first = begin;
    uint8_t former[FILTER_SIZE];
    while (begin - first < AROUND &&
           read_memory(process, first - FILTER_SIZE, former, FILTER_SIZE)) {
        first -= FILTER_SIZE;
        memmove(code + FILTER_SIZE, code, end - first - FILTER_SIZE);
        memcpy(code, former, FILTER_SIZE);
    }
    size_t count = end - first;
    begin = first;
    return may_jump_between(code, count, address - begin, address + size - begin);
}

/* Whether the player replaces some of these bytes itself, to stop the thread at the end of the
 * present slice. If they were others, it would stop at each pass. */
static bool is_of_player(const struct timeline *timeline, uint64_t address, size_t size) {
    uint64_t place, replaced;
    return player_place(timeline->player, &place, &replaced) && place < address + size &&
           address < place + replaced;
}

/* Returns the size of what a filter replaces at ADDRESS of PROCESS, which is in the present slice;
 * or 0. */
static size_t size_at(const struct timeline *timeline, pid_t process, uint64_t address) {
    uint8_t code[CODE_READ];
    size_t size =
        read_memory(process, address, code, sizeof code) ? filtered_size(code, sizeof code) : 0;
    if (!size || is_of_player(timeline, address, size) || is_jumped_into(process, address, size))
        return 0;
    return size;
}

/* The same for the present process. */
static bool may_filter_at(const struct timeline *timeline, uint64_t address) {
    return size_at(timeline, timeline_process(timeline), address) > 0;
}

bool may_filter(const struct timeline *timeline, const struct target *target) {
    const struct points *points = &timeline->points;
    size_t size = size_at(timeline, target->state.process, target->address);
    if (!size || target->has_ticks || points_need_steps(points))
        return false;
    for (size_t i = 0; i < points->count; i++)
        if (points->points[i].address - target->address < size ||
            points->points[i].kind == POINT_READ || points->points[i].kind == POINT_ACCESS)
            return false;
    return true;
}

static bool is_near(uint64_t place, uint64_t address) {
    return (place > address ? place - address : address - place) < REACH;
}

bool may_filter_beside(const struct timeline *timeline, const struct target *target) {
    uint64_t address = next_instruction(timeline_process(timeline)), other = target->address;
    uint64_t distance = address > other ? address - other : other - address;
    return distance > FILTER_MOVED_MOST && may_filter_at(timeline, address);
}

/* Between this and what is mapped, in bytes. */
static const uint64_t margin = 16 * (uint64_t)FILTER_SIZE;

/* Returns an address near ADDRESS between START and END, where nothing is mapped, or 0. */
static uint64_t choose_address(uint64_t start, uint64_t end, uint64_t address) {
    if (end - start <= 2 * margin)
        return 0;
    if (is_near(start + margin, address))
        return start + margin;
    return is_near(end - margin, address) ? end - margin : 0;
}

static bool map_code(const struct timeline *timeline, uint64_t address) {
    const uint64_t arguments[6] = {address,
                                   FILTER_SIZE,
                                   PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                                   UINT64_MAX,
                                   0};
    return inject_call(timeline_process(timeline), timeline->site, SYS_mmap, arguments, NULL) ==
           (int64_t)address;
}

static void unmap_code(const struct timeline *timeline, uint64_t address) {
    const uint64_t arguments[6] = {address, FILTER_SIZE};
    inject_call(timeline_process(timeline), timeline->site, SYS_munmap, arguments, NULL);
}

static struct wanted_pass describe(const struct target *target, uint64_t count) {
    const struct wanted_state *state = &target->state;
    struct wanted_pass wanted = {.count = count, .registers = &state->registers.general};
    for (size_t i = 0; i < state->witnesses.count && i < FILTER_WORDS; i++) {
        wanted.addresses[wanted.words] = state->witnesses.data[i].address;
        wanted.values[wanted.words++] = state->witnesses.data[i].value;
    }
    return wanted;
}

/* Changes the process. Returns false if that is not possible; then it is as it was. */
static bool insert_filter(struct timeline *timeline, uint64_t address,
                          const struct wanted_pass *wanted, struct inserted_filter *inserted) {
    uint8_t code[CODE_READ];
    pid_t process = timeline_process(timeline);
    uint64_t place = next_instruction(process);
    take_points_out(timeline);
    size_t size = size_at(timeline, process, address);
    uint64_t at = size ? find_free_memory(process, margin, UINT64_MAX, choose_address, address) : 0;
    bool is_within = place > address && place < address + size;
    if (!at || is_within || !read_memory(process, address, code, sizeof code) ||
        !player_settle(timeline->player) || !map_code(timeline, at))
        return false;
    inserted->address = address;
    memcpy(inserted->former, code, sizeof inserted->former);
    make_pass_filter(&inserted->filter, at, address, code, size, wanted);
    if (!write_memory(process, at, inserted->filter.code, FILTER_SIZE) ||
        !write_memory(process, address, inserted->filter.jump, FILTER_JUMP_SIZE)) {
        unmap_code(timeline, at);
        return false;
    }
    if (place == address)
        set_thread_address(process, inserted->filter.moved);
    return true;
}

/* The process is as it was, at the place in its own code; but where the slice has ended in front of
 * the end of a wait, the filter's memory stays. Returns the number of passes. */
static uint64_t remove_filter(struct timeline *timeline, const struct inserted_filter *inserted) {
    const struct pass_filter *filter = &inserted->filter;
    pid_t process = timeline_process(timeline);
    uint64_t passes = 0;
    take_points_out(timeline);
    if (!process)
        return 0;
    uint64_t place = next_instruction(process);
    read_memory(process, filter->at + FILTER_COUNT, &passes, sizeof passes);
    write_memory(process, inserted->address, inserted->former, FILTER_JUMP_SIZE);
    if (!player_settle(timeline->player))
        return passes;
    if (place == filter->trap)
        set_thread_address(process, inserted->address);
    else if (place - filter->moved <= filter->moved_size)
        set_thread_address(process, inserted->address + (place - filter->moved));
    unmap_code(timeline, filter->at);
    return passes;
}

/* Goes on until the filter stops the process, or something else does. */
static enum reached go_to_trap(struct timeline *timeline, const struct target *target,
                               const struct inserted_filter *inserted, struct halt *halt) {
    set_stops(timeline, timeline->ignores_points, inserted->filter.trap);
    do
        *halt = advance(timeline, false);
    while (halt->kind == HALT_TIMER && timeline->here.events == target->place.events);
    if (halt->kind == HALT_INTERRUPT)
        return REACHED_STOP;
    if (timeline->here.events != target->place.events || timeline->here.ended)
        return REACHED_NOT;
    if (halt->kind == HALT_POINT && !halt->point)
        return REACHED;
    return was_asked_for(halt->kind) ? REACHED_HALT : REACHED_NOT;
}

bool leave_replaced(struct timeline *timeline, const struct target *target) {
    pid_t process = timeline_process(timeline);
    uint64_t place = next_instruction(process);
    size_t size = size_at(timeline, process, target->address);
    while (place > target->address && place - target->address < size) {
        if (advance(timeline, true).kind != HALT_STEP)
            return false;
        place = next_instruction(process);
    }
    return true;
}

bool go_filtered(struct timeline *timeline, struct target *target, uint64_t count,
                 struct halt *halt, uint64_t *passes, enum reached *reached) {
    *reached = REACHED_NOT;
    *passes = 0;
    for (int i = 0; i < FALSE_MOST; i++) {
        struct inserted_filter inserted;
        struct wanted_pass wanted = describe(target, count);
        if (!insert_filter(timeline, target->address, &wanted, &inserted))
            return i > 0;
        *reached = go_to_trap(timeline, target, &inserted, halt);
        *passes += remove_filter(timeline, &inserted);
        set_stops(timeline, timeline->ignores_points, 0);
        if (*reached != REACHED || count || is_at_state(timeline, target))
            return true;
        *reached = REACHED_NOT;
    }
    return true;
}

bool count_passes(struct timeline *timeline, struct target *target, uint64_t address,
                  uint64_t *passes, enum reached *reached) {
    const struct wanted_pass never = {.count = UINT64_MAX};
    struct halt halt;
    *reached = REACHED_NOT;
    *passes = 0;
    for (int i = 0; i < FALSE_MOST; i++) {
        struct inserted_filter aim, counter;
        struct wanted_pass wanted = describe(target, 0);
        if (!insert_filter(timeline, address, &never, &counter))
            return i > 0;
        bool good = insert_filter(timeline, target->address, &wanted, &aim);
        if (good) {
            *reached = go_to_trap(timeline, target, &aim, &halt);
            remove_filter(timeline, &aim);
        }
        *passes += remove_filter(timeline, &counter);
        set_stops(timeline, true, 0);
        if (!good || *reached != REACHED || is_at_state(timeline, target))
            return good;
        *reached = REACHED_NOT;
    }
    return true;
}

void shift_target(struct timeline *timeline, struct target *target, const struct stand *stand) {
    struct halt halt = {.kind = HALT_STEP};
    uint64_t steps = 0;
    if (target->kind != TARGET_STATE || target->has_ticks || !go_to_copy(timeline, stand) ||
        may_filter_at(timeline, target->address))
        return;
    set_stops(timeline, false, 0);
    while (steps < SHIFT_MOST && halt.kind == HALT_STEP &&
           !may_filter_at(timeline, next_instruction(timeline_process(timeline)))) {
        halt = advance(timeline, true);
        steps++;
    }
    if (halt.kind != HALT_STEP || steps == SHIFT_MOST)
        return;
    take_here(timeline, &target->shifted);
    target->shift = steps;
    target->address = next_instruction(target->shifted.process);
    forget_state(&target->state);
    want_state(&target->state, target->shifted.process, &target->shifted.state.stacks);
}
