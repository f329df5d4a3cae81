/* regions.c: see regions.h.  It is compiled without instrumentation.  Where regions are made it is
 * linked into a module that has some: so its variables are known to be no stack, and making many
 * regions is not itself what is watched. */
#include "regions.h"

#include <quipu.h>
#include <stdlib.h>
#include <string.h>

enum {
    APART = 512, /* bytes, in the variables */
    PAGE = 4096,
    SIZE = 8,
    STACK_DEPTH = 5 << 20, /* no program comes there, and all may */
};

#define NOWHERE ((unsigned char *)0x10000000000)

static unsigned char field[(unsigned long)REGIONS_MOST * APART];
static unsigned long hits;

void count_hit(const struct quipu_write *write, void *argument) {
    (void)write;
    (void)argument;
    __atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
}

unsigned long count_hits(void) {
    return __atomic_load_n(&hits, __ATOMIC_RELAXED);
}

static unsigned char *place_of(unsigned long i, const char *place) {
    unsigned long scattered = i * 0x9e3779b1 % REGIONS_MOST; /* a permutation */
    if (strcmp(place, "heap") == 0)
        return malloc(SIZE);
    if (strcmp(place, "stack") == 0)
        return (unsigned char *)__builtin_frame_address(0) - STACK_DEPTH - scattered * SIZE;
    return strcmp(place, "nowhere") == 0 ? NOWHERE + scattered * PAGE : field + scattered * APART;
}

int64_t make_region(unsigned long i, const char *place) {
    unsigned char *address = place_of(i, place);
    if (!address)
        return -1;
    if (strcmp(place, "read") == 0) {
        /* of memory that nothing was ever written to no fork would copy what maps it */
        field[sizeof field - 1] = 1;
        return *(const volatile unsigned char *)address;
    }
    return quipu_watch_create(address, SIZE, count_hit, NULL);
}

int make_regions(unsigned long count, const char *place) {
    for (unsigned long i = 0; i < count; i++)
        if (i >= REGIONS_MOST || make_region(i, place) < 0)
            return 0;
    settle_regions();
    return 1;
}
