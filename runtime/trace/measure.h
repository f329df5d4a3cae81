/* measure.h: what the parts of the look at a call's memory share; private to measure.c and
 * measure_site.S. */
#ifndef QUIPU_RUNTIME_TRACE_MEASURE_H
#define QUIPU_RUNTIME_TRACE_MEASURE_H

#include <stdint.h>

enum {
    RANGES_AT_ONCE = 12
};

/* A range that a call will access. */
struct range {
    uint64_t flags; /* enum quipu_trace_measured */
    uint64_t address, size;
};

/* measure_site.S: called by sites (format/trace.h). */
void quipu_trace_measure(void);
extern const char quipu_trace_measure_frame[], quipu_trace_measure_end[];

/* Finds the ranges of the call behind the site whose frame has the base BASE (registers.inc), from
 * number FIRST on. Returns their number, at most RANGES_AT_ONCE. If it is that, there may be more.
 */
uint32_t quipu_trace_find_ranges(const uint64_t *base, uint32_t first, struct range *ranges);

/* Returns the address of the site that has called quipu_trace_measure if its frame is at BASE, and
 * STACK is the stack pointer; or 0. */
uint64_t quipu_trace_measured_site(uint64_t base, uint64_t stack);

#endif
