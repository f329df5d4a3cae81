/* regions.h: regions of 8 bytes that nobody writes to. */
#ifndef BENCH_WATCH_REGIONS_H
#define BENCH_WATCH_REGIONS_H

#include <stdint.h>

enum {
    REGIONS_MOST = 1 << 20
};

struct quipu_write;

/* Makes region I, below REGIONS_MOST, in PLACE: "variables", scattered over 512 MiB of them;
 * "heap", a small block for each; "nowhere", scattered over 4 GiB where nothing is; or "stack",
 * where the first thread's stack would come to if it grew by megabytes: the runtime puts back the
 * checks of all stores to the stack. "read": makes none, but reads the variable, as the runtime
 * does.  Returns the region's number, or minus an error's. */
int64_t make_region(unsigned long i, const char *place);
/* Regions [0, COUNT).  Returns whether all are there. */
int make_regions(unsigned long count, const char *place);
/* The regions' handler, and how often it was called. */
void count_hit(const struct quipu_write *write, void *argument);
unsigned long count_hits(void);
/* Instrumented, in settle.c: has the runtime read what new regions hold, which else is done in
 * front of the program's first call of what is not. */
void settle_regions(void);

#endif
