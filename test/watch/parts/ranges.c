// The loops of LOOPS, which is ../ranges.c or ../far.c, with regions that come and go between them;
// prints what was told of.
#define main stepped_main
#include LOOPS
#undef main

#include "../../../include/quipu.h"

enum {
    REGIONS = 8,
    RUNS = 40000
};

static unsigned long digest, count;

static void add(unsigned long number) {
    digest = digest * 1000003 + number;
}

static void hit(const struct quipu_write *write, void *number) {
    add((unsigned long)((const unsigned char *)write->address - area));
    add(write->size + (unsigned long)number);
    add(*(const unsigned char *)write->old_bytes);
    add(*(const unsigned char *)write->new_bytes);
    count++;
}

int main(void) {
    int64_t regions[REGIONS] = {0};
    for (unsigned i = 0; i < RUNS; i++) {
        unsigned which = (unsigned)random_number(REGIONS);
        if (regions[which] > 0) {
            quipu_watch_delete(regions[which]);
            regions[which] = 0;
        } else if (random_number(3) == 0) {
            regions[which] = quipu_watch_create(near() + random_number(200) - 100,
                                                1 + random_number(40), hit, (void *)(long)which);
        }
        run(i % KINDS);
    }
    printf("%lu %lx\n", count, digest);
    return 0;
}
