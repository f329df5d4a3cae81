/* info_schedule.h: quipu info of a trace: its schedule (trace/schedule.h). */
#ifndef QUIPU_CMD_INFO_SCHEDULE_H
#define QUIPU_CMD_INFO_SCHEDULE_H

#include "report/json_writer.h"
#include "trace/order.h"
#include "trace/trace.h"

#include <stdio.h>

/* What a trace's schedule has. */
struct schedule_sums {
    uint64_t switches;
    uint64_t of_cause[QUIPU_TRACE_ENDED + 1];
    uint64_t inexact; /* switches that may have been earlier ... */
    uint64_t most;    /* ... by so many instructions at most */
};

/* Adds a switch. */
void add_switch(struct schedule_sums *sums, const struct order_switch *leaves);

/* Writes what there is of the schedule, if TRACE has one. */
void write_text_schedule(FILE *out, const struct trace *trace, const struct schedule_sums *sums);
/* Writes the member "schedule", which is null if there is none. */
void write_json_schedule(struct json_writer *json, const struct trace *trace,
                         const struct schedule_sums *sums);

#endif
