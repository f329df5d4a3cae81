/* schedule_recorder.h: records when which thread of a recording leaves the processor that all of
 * them run on, and when tickets were taken. format/trace.h, "schedule", is the format. */
#ifndef QUIPU_TRACE_SCHEDULE_RECORDER_H
#define QUIPU_TRACE_SCHEDULE_RECORDER_H

#include "trace/writer.h"
#include "util/arena.h"

#include <stdint.h>

struct schedule_recorder; /* schedule_recorder.c */

/* Makes one for the processor number PROCESSOR; -1: the last one that this process may use. If it
 * may not use it, this is an error that ends quipu. */
struct schedule_recorder *schedule_recorder_new(struct arena *arena, int processor);

/* Begins to record the switches of the children that this process starts, and makes the file of
 * times in DIRECTORY. What is recorded goes to WRITER. If the kernel gives less than all, the trace
 * says so. */
void schedule_recorder_begin(struct schedule_recorder *recorder, struct trace_writer *writer,
                             int directory);

/* From now on children of this process run on the schedule's processor, ... */
void schedule_enter_processor(const struct schedule_recorder *recorder);
/* ... and from now on this process runs on the others, if there are any. */
void schedule_leave_processor(const struct schedule_recorder *recorder);

/* Takes what the kernel and the programs have written so far. TICKETS: so many were taken. */
void schedule_recorder_take(struct schedule_recorder *recorder, uint64_t tickets);

/* Takes the rest: all threads have stopped. */
void schedule_recorder_end(struct schedule_recorder *recorder, uint64_t tickets);

#endif
