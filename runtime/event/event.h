/* event.h: the contents of quipu_event_cells, for each thread; format/event.h has the offsets.
 *
 * Only the thread itself writes here, and debuggers while it is stopped. */
#ifndef QUIPU_RUNTIME_EVENT_EVENT_H
#define QUIPU_RUNTIME_EVENT_EVENT_H

#include "format/cells.h"
#include "format/event.h"
#include "runtime/core/state.h"

#include "format/event_lookup.h"

/* A signal handler that runs or has run. */
struct snapshot {
    uint64_t context; /* address of the interrupted state, which identifies the handler's call */
    uint64_t counts[QUIPU_EVENTS];
};

/* A countdown that the program itself has set. It is free while it has no handler. */
struct alarm {
    uint64_t target; /* ticks */
    uint64_t handler, argument;
};

struct event_block {
    uint64_t cells[QUIPU_EVENT_CELLS];
    uint64_t earlier[QUIPU_EVENTS]; /* counts in these cells by threads that have ended */
    uint64_t begin;                 /* the same for ticks, with the base */
    uint64_t base;
    uint64_t thread;
    uint64_t countdown_end;
    struct alarm alarms[QUIPU_EVENT_ALARMS];
    uint64_t next; /* index of the oldest snapshot */
    struct snapshot snapshots[QUIPU_EVENT_SNAPSHOTS];
};

_Static_assert(sizeof(struct event_block) == QUIPU_EVENT_BLOCK, "the shim makes room for it");
_Static_assert(offsetof(struct event_block, countdown_end) == QUIPU_EVENT_COUNTDOWN_END,
               "debuggers write there");

extern struct event_block quipu_event_cells __attribute__((weak));
WEAK_HERE(quipu_event_cells);
extern const struct quipu_range quipu_ranges_begin[], quipu_ranges_end[];

/* Returns the calling thread's own. */
static inline struct event_block *own_block(void) {
    uint64_t distance = *own_bias();
    if (distance == QUIPU_UNATTACHED)
        distance = quipu_attach_thread();
    return (void *)((char *)&quipu_event_cells + distance);
}

/* Uses four sums, since each addition to a single one would wait for the one before.
 * QUIPU_MANY_LANES and QUIPU_FEW_LANES are multiples of four. */
static inline uint64_t sum_lanes(const struct event_block *block, uint32_t kind) {
    const uint64_t *cells = &block->cells[quipu_first_cell(kind)];
    uint64_t first = 0, second = 0, third = 0, fourth = 0;
    for (uint32_t lane = 0; lane < quipu_lanes(kind); lane += 4) {
        first += cells[lane];
        second += cells[lane + 1];
        third += cells[lane + 2];
        fourth += cells[lane + 3];
    }
    return first + second + third + fourth;
}

/* Returns the thread's count according to the cells alone. It is exact during a call. */
static inline uint64_t count_in(const struct event_block *block, uint32_t kind) {
    if (kind == QUIPU_EVENT_TICKS)
        return sum_lanes(block, kind) + block->base - block->begin;
    return sum_lanes(block, kind) - block->earlier[kind];
}

/* event.c: whether the module counts KIND anywhere. */
bool quipu_is_counted(uint32_t kind);

/* event.c: returns the query increment at ADDRESS, or 0 outside of instrumented code. */
int64_t quipu_sum_of(uint64_t address, uint64_t rcx, uint32_t kind);

/* range.c: returns the range that contains ADDRESS, or NULL. */
const struct quipu_range *quipu_find_range(uint64_t address);

static inline uint64_t range_count(void) {
    return section_size(quipu_ranges_begin, quipu_ranges_end) / sizeof(struct quipu_range);
}

static inline uint64_t range_start(const struct quipu_range *range) {
    return relative_address(&range->start);
}

/* As in include/quipu.h. */
struct quipu_moment {
    uint64_t ticks, address;
    uint32_t thread, instrumented;
};

/* moment/text.c; include/quipu.h describes them */
uint64_t quipu_runtime_print(const struct quipu_moment *moment, char *text, uint64_t size);
int quipu_runtime_parse(const char *text, struct quipu_moment *moment);

/* moment/tests.c: returns 0 if all tests of countdowns are inserted, or a negative error number. */
long quipu_tests_missing(void);

/* moment/moment.c, if inserted code counts ticks. BLOCK belongs to a thread that begins. */
void quipu_begin_ticks(struct event_block *block) __attribute__((weak));
WEAK_HERE(quipu_begin_ticks);
/* The same: ticks from before the module's start were added to those of the first thread. */
void quipu_add_early_ticks(void) __attribute__((weak));
WEAK_HERE(quipu_add_early_ticks);

#endif
