/* event.h: cells of events, and tables of potentials (--quipu=event). */
#ifndef QUIPU_FORMAT_EVENT_H
#define QUIPU_FORMAT_EVENT_H

#include "format/cells.h"

/* A unit that counts events contains quipu_event_cells, in a group of its own. The linker keeps one
 * for each module. An event kind has quipu_lanes cells, from quipu_first_cell on, and its count is
 * their sum. Inserted code adds constants to them. With only one cell, each addition would wait for
 * the one before. quipu_event_middle is QUIPU_BIAS bytes behind the first cell. */
enum {
    QUIPU_MANY_LANES = 128, /* lanes of instructions and ticks, which are counted most often ... */
    QUIPU_FEW_LANES = 16,   /* ... and of all other kinds */
    QUIPU_CALL_LANES = 4,   /* the first lanes: the only ones of instructions with --quipu=calls */
};

enum quipu_event {
    QUIPU_EVENT_INSTRUCTIONS,
    QUIPU_EVENT_BLOCKS,             /* basic blocks */
    QUIPU_EVENT_BRANCHES,           /* conditional jumps */
    QUIPU_EVENT_BRANCHES_TAKEN,     /* conditional jumps that are taken */
    QUIPU_EVENT_BRANCHES_NOT_TAKEN, /* conditional jumps that are not taken */
    QUIPU_EVENT_CALLS,
    QUIPU_EVENT_RETURNS,
    QUIPU_EVENT_LOADS,          /* operands read from memory */
    QUIPU_EVENT_STORES,         /* operands written to memory */
    QUIPU_EVENT_BYTES_LOADED,   /* by those loads */
    QUIPU_EVENT_BYTES_STORED,   /* by those stores */
    QUIPU_EVENT_FLOATING_POINT, /* instructions that compute in floating point */
    QUIPU_EVENT_VECTOR,         /* instructions on vectors of several elements */
    QUIPU_EVENT_ATOMIC,         /* locked instructions */
    QUIPU_EVENT_TICKS,          /* the software instruction counter */
    QUIPU_EVENT_CLASSES = 16,   /* the first class; classes are in the order of their options */
    QUIPU_EVENTS = 32,
};

static inline uint32_t quipu_lanes(uint32_t kind) {
    return kind == QUIPU_EVENT_INSTRUCTIONS || kind == QUIPU_EVENT_TICKS ? QUIPU_MANY_LANES
                                                                         : QUIPU_FEW_LANES;
}

static inline uint32_t quipu_first_cell(uint32_t kind) {
    uint32_t many = (kind > QUIPU_EVENT_INSTRUCTIONS) + (kind > QUIPU_EVENT_TICKS);
    return QUIPU_FEW_LANES * kind + (QUIPU_MANY_LANES - QUIPU_FEW_LANES) * many;
}

/* Layout of quipu_event_cells: the number of cells, then offsets in bytes. Behind the cells is data
 * of the runtime for signal handlers and countdowns (runtime/event/event.h). These offsets are for
 * readers and debuggers. */
enum {
    QUIPU_EVENT_CELLS = 2 * QUIPU_MANY_LANES + QUIPU_FEW_LANES * (QUIPU_EVENTS - 2),
    QUIPU_EVENT_EARLIER = 8 * QUIPU_EVENT_CELLS, /* for each kind: the count of earlier threads */
    QUIPU_EVENT_BEGIN =
        QUIPU_EVENT_EARLIER + 8 * QUIPU_EVENTS,  /* likewise for ticks, with the base */
    QUIPU_EVENT_BASE = QUIPU_EVENT_BEGIN + 8,    /* ticks beyond those in the cells */
    QUIPU_EVENT_THREAD = QUIPU_EVENT_BEGIN + 16, /* number of the thread: 1, 2, ... as they begin */
    QUIPU_EVENT_COUNTDOWN_END =
        QUIPU_EVENT_BEGIN + 24, /* for debuggers: quipu_moment_near is called then */
    QUIPU_EVENT_ALARMS = 16,
    QUIPU_EVENT_SNAPSHOTS = 8,
    QUIPU_EVENT_BLOCK = QUIPU_EVENT_BEGIN + 32 + 24 * QUIPU_EVENT_ALARMS + 8 +
                        QUIPU_EVENT_SNAPSHOTS * (8 + 8 * QUIPU_EVENTS)
};

/* Event counts at any instruction.
 *
 * There are four sections, which are loaded and need no relocation. Cells are exact while no code
 * of the module is in progress: its threads are in other code, or in calls from the module.
 * Otherwise the tables give the potential, which must be added to the cells.
 *
 * QUIPU_RANGES_SECTION: struct quipu_range for each fragment of each function, in any order,
 * between the hidden symbols quipu_ranges_begin and quipu_ranges_end.
 *
 * QUIPU_QUERIES_SECTION: the tables, each on a multiple of 4:
 *     u32 kinds           bit n: kind n (enum quipu_event) is counted here
 *     i32 weights         distance from this field to the unit's weights
 *     u32 anchors         then for each, in any order:
 *         u32 start           its distance from the fragment's start
 *         sum for each kind, by increasing number: uleb of 0, -1, 1, -2, ... (zigzag)
 *         uleb instructions   number of original instructions, which follow without a gap. In a
 *                             table with QUIPU_QUERY_TURNS twice that, plus 1 if turns follow:
 *             turns for each kind: what is added for each unit of %rcx, zigzag
 *         for each instruction:
 *             u8                  size in the low half; in the high half the number of its
 *                                 weights, or QUIPU_QUERY_ESCAPE: the number follows as uleb
 *
 * QUIPU_WEIGHTS_SECTION: vectors of u16, one for each of the table's kinds.
 *
 * QUIPU_KINDS_SECTION: between the hidden symbols quipu_kinds_begin and quipu_kinds_end, for each
 * unit and each kind that it counts:
 *     u8 kind; asciz name; asciz pattern (of a class; otherwise empty)
 *
 * For an address, find the anchor with the highest start that is not above it. The potential is the
 * anchor's sums, plus %rcx times its turns, plus the weights of those of its instructions that
 * begin below the address. */

#define QUIPU_RANGES_SECTION  ".quipu.ranges"
#define QUIPU_QUERIES_SECTION ".quipu.queries"
#define QUIPU_WEIGHTS_SECTION ".quipu.weights"
#define QUIPU_KINDS_SECTION   ".quipu.kinds"

struct quipu_range {
    int32_t start; /*  0  of the code, from the address of this field */
    uint32_t size; /*  4  bytes of code */
    int32_t table; /*  8  of the table, from the address of this field */
    int32_t name;  /* 12  of the fragment's name, asciz, from the address of this field; 0: no name,
                          because ticks are not counted */
};

enum {
    QUIPU_QUERY_ESCAPE = 15
};

/* Flag in a table's number of anchors. */
#define QUIPU_QUERY_TURNS 0x80000000u

#endif
