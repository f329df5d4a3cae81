/* event.h: declarations shared by the files of events; private to this folder. */
#ifndef QUIPU_PASS_EVENT_EVENT_H
#define QUIPU_PASS_EVENT_EVENT_H

#include "pass/feature.h"
#include "pass/plan.h"

/* Data of a unit. */
struct event_unit {
    bool *handlers;                    /* by function: it may be a signal handler, and reports it */
    VECTOR(struct event_sums) weights; /* of instructions, without duplicates */
};

struct event_unit *event_unit(struct pass_state *state);

/* lanes.c: chooses, for each addition to CELL, one of its kind's first LANE_COUNT cells.
 * requires: increments, find_frequencies   makes: lane of increments */
void choose_lanes(struct graph *graph, uint32_t cell, uint32_t lane_count);

/* handlers.c: finds the functions that may be signal handlers; and inserts, into such a function,
 * the code that reports to the runtime if it is called as one. */
void find_handlers(struct pass_state *state);
void insert_handler_code(struct planner *p, uint32_t index);

/* tables.c: write the tables of what must be added to an event's cell at each instruction; behind
 * the last of them the cells, and what the tables of all functions share; and the unit's record. */
void write_query_tables(struct planner *p, uint32_t number);
void write_event_cells(struct pass_state *state);
void write_events_record(struct pass_state *state);

#endif
