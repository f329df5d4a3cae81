/* countdown.c: the ticks of a thread under control, and its countdown; see countdown.h.
 *
 * The runtime divides a countdown evenly among the cells. Whenever a cell has ended, it divides the
 * rest again: some thousand times, each with two system calls. A search need not stop at an exact
 * tick. So here each cell gets a share in proportion to its ticks in earlier intervals, and the
 * runtime's countdown_end is set to the present count. Then the first cell that reaches zero brings
 * the process to the hook.
 *
 * At a hook the runtime is about to set its cells itself. The next system call of the runtime
 * unblocks signals; behind it quipu writes the cells.
 *
 * Invariant: cells + base does not change. */
#include "tracee/countdown.h"

#include "symbols/event_tables.h"

#include <string.h>
#include <sys/uio.h>

uint64_t find_hook(const struct binary *binary, bool begins) {
    const char *name = begins ? "quipu_moment_thread" : "quipu_moment_near";
    for (size_t i = 0; i < binary->symbols.count; i++)
        if (strcmp(binary->symbols.data[i].name, name) == 0)
            return binary->symbols.data[i].address;
    return 0;
}

enum {
    ALARM_WORDS = 3, /* target, handler, argument of an alarm */
};

/* The words behind the cells, in the same order. */
struct tail {
    uint64_t begin, base, thread, countdown_end;
    uint64_t alarms[QUIPU_EVENT_ALARMS][ALARM_WORDS];
};

struct counters {
    uint64_t cells[QUIPU_MANY_LANES];
    struct tail tail;
};

static bool move_counters(const struct tick_cells *ticks, pid_t thread, struct counters *counters,
                          bool writing) {
    struct iovec here[] = {{counters->cells, sizeof counters->cells},
                           {&counters->tail, sizeof counters->tail}};
    struct iovec there[] = {
        {(void *)(ticks->block + 8 * quipu_first_cell(QUIPU_EVENT_TICKS)), sizeof counters->cells},
        {(void *)(ticks->block + QUIPU_EVENT_BEGIN), sizeof counters->tail}};
    ssize_t moved = writing ? process_vm_writev(thread, here, 2, there, 2, 0)
                            : process_vm_readv(thread, here, 2, there, 2, 0);
    return moved == (ssize_t)(sizeof counters->cells + sizeof counters->tail);
}

static uint64_t sum_of(const uint64_t cells[QUIPU_MANY_LANES]) {
    uint64_t sum = 0;
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++)
        sum += cells[lane];
    return sum;
}

static uint64_t count_in(const struct counters *counters) {
    return sum_of(counters->cells) + counters->tail.base - counters->tail.begin;
}

/* Shortens DISTANCE so that the program's own alarms are not late. */
static uint64_t nearest_alarm(const struct counters *counters, uint64_t distance) {
    uint64_t now = count_in(counters);
    for (int i = 0; i < QUIPU_EVENT_ALARMS; i++) {
        const uint64_t *alarm = counters->tail.alarms[i];
        uint64_t left = alarm[0] > now ? alarm[0] - now : 0;
        if (alarm[1] && left < distance)
            distance = left;
    }
    return distance;
}

/* The minimum share of a cell. A cell with few ticks so far may get more the next time. All these
 * minima together add a quarter of WHOLE. */
static uint64_t least_share(uint64_t whole) {
    return 1 + whole / (4 * QUIPU_MANY_LANES);
}

static void divide(const struct tick_cells *ticks, struct counters *counters, uint64_t distance) {
    uint64_t whole = sum_of(ticks->recent), least = least_share(whole);
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++) {
        unsigned __int128 part = (unsigned __int128)distance * (ticks->recent[lane] + least) /
                                 (whole + QUIPU_MANY_LANES * least);
        counters->tail.base += counters->cells[lane] + (uint64_t)part;
        counters->cells[lane] = -(uint64_t)part;
    }
}

static bool write_countdown(const struct tick_cells *ticks, struct countdown *countdown,
                            pid_t thread, uint64_t distance) {
    struct counters counters;
    if (!move_counters(ticks, thread, &counters, false))
        return false;
    uint64_t now = count_in(&counters);
    counters.tail.countdown_end = !distance ? 0 : now ? now : 1;
    distance = nearest_alarm(&counters, distance ? distance : (uint64_t)1 << 59);
    divide(ticks, &counters, distance);
    countdown->base = counters.tail.base;
    memcpy(countdown->cells, counters.cells, sizeof countdown->cells);
    return move_counters(ticks, thread, &counters, true);
}

bool stop_within(const struct tick_cells *ticks, struct countdown *countdown, pid_t thread,
                 uint64_t distance) {
    if (countdown->at_hook)
        countdown->distance = distance;
    return write_countdown(ticks, countdown, thread, distance);
}

void set_countdown(const struct tick_cells *ticks, struct countdown *countdown, pid_t thread) {
    if (countdown->at_hook && countdown->distance)
        write_countdown(ticks, countdown, thread, countdown->distance);
    countdown->at_hook = false;
    countdown->distance = 0;
}

/* Limits the weight of earlier intervals to that of a few intervals like the last one, which had
 * WHOLE ticks. At least as many ticks as there are cells are kept, since short intervals say
 * little. */
static void forget(struct tick_cells *ticks, uint64_t whole) {
    uint64_t most = 8 * whole + QUIPU_MANY_LANES, before = sum_of(ticks->recent);
    if (before <= most)
        return;
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++)
        ticks->recent[lane] = (uint64_t)((unsigned __int128)ticks->recent[lane] * most / before);
}

/* If the base has changed, the runtime has set the cells meanwhile, so nothing is recorded. */
void end_countdown(struct tick_cells *ticks, const struct countdown *countdown, pid_t thread) {
    struct counters counters;
    if (!move_counters(ticks, thread, &counters, false) || counters.tail.base != countdown->base)
        return;
    forget(ticks, sum_of(counters.cells) - sum_of(countdown->cells));
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++)
        ticks->recent[lane] += counters.cells[lane] - countdown->cells[lane];
}

uint64_t read_ticks(const struct tick_cells *ticks, pid_t thread, const struct binary *binary,
                    uint64_t address) {
    struct counters counters;
    int64_t sums[QUIPU_EVENTS] = {0};
    memset(&counters, 0, sizeof counters);
    move_counters(ticks, thread, &counters, false);
    if (address)
        add_events_above(binary, address, 0, sums);
    return count_in(&counters) + (uint64_t)sums[QUIPU_EVENT_TICKS];
}
