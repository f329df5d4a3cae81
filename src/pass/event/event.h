/* event.h: what the files of events offer each other; private to this folder, and to the ticks of
 * moments, which are events. */
#ifndef QUIPU_PASS_EVENT_EVENT_H
#define QUIPU_PASS_EVENT_EVENT_H

#include "pass/feature.h"
#include "pass/plan.h"

/* What is kept of a unit. */
struct event_unit {
    bool *handlers; /* by function: it may be called by the kernel, and notes it */
    VECTOR(struct event_sums) weights; /* of instructions, without repetition */
};

struct event_unit *event_unit(struct pass_state *state);

/* lanes.c: which of its kind's first LANE_COUNT cells each addition to CELL takes.
 * requires: increments, find_frequencies   makes: lane of increments */
void choose_lanes(struct graph *graph, uint32_t cell, uint32_t lane_count);

/* handlers.c: which functions note that they were called as signal handlers; and the code of one
 * that does. */
void find_handlers(struct pass_state *state);
void insert_handler_code(struct planner *p, uint32_t index);

/* tables.c: what must be added to an event's cell at each instruction; the cells, and what the
 * tables of all functions share: behind the last of them; the unit's record. */
void write_query_tables(struct planner *p, uint32_t number);
void write_event_cells(struct pass_state *state);
void write_events_record(struct pass_state *state);

#endif
