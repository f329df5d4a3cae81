/* measure.h: what the parts of the look at a call's memory share; private to measure.c,
 * measure_kernel.c and measure_site.S. */
#ifndef QUIPU_RUNTIME_TRACE_MEASURE_H
#define QUIPU_RUNTIME_TRACE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RANGES_AT_ONCE = 12
};

/* A range that a call will access. */
struct range {
    uint64_t flags; /* enum quipu_trace_measured */
    uint64_t address, size;
};

/* The ranges that are found. */
struct finder {
    const uint64_t *base;
    const int8_t *words; /* where from there the call's arguments are */
    uint32_t skipped;    /* so many are left out yet */
    uint32_t count;
    struct range *ranges;
};

/* Returns an argument of the call, by its number. */
static inline uint64_t argument(const struct finder *finder, uint32_t number) {
    return finder->base[finder->words[number % 6]];
}

/* measure.c: whether the kernel can read the 8 bytes that ADDRESS is in. */
bool quipu_trace_may_read(uint64_t address);
/* measure.c: adds a range as it is; the next one of a call. */
void quipu_trace_add_range(struct finder *finder, struct range range);
/* measure.c: finds the ranges of MEASURE (format/trace_measures.h). JUMPS: the call is a jump. */
void quipu_trace_measure_one(struct finder *finder, uint32_t measure, bool jumps);

/* measure_kernel.c: finds the ranges of a system call. ROW: how it is made (format/trace.h). */
void quipu_trace_measure_system_call(struct finder *finder, uint32_t row, bool jumps);

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
