/* service.c: what a region of <quipu.h> takes to be made and deleted while a million others are
 * there, and a hit to be told to a handler.  Prints nanoseconds of processor time:
 *
 *     create NANOSECONDS
 *     delete NANOSECONDS
 *     hit NANOSECONDS
 *
 * and ends with status 1 where a hit is missing or told twice. */
#include "regions.h"

#include <quipu.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    PRESENT = 1000000,
    MORE = 20000, /* at once */
    ROUNDS = 5,
    HITS = 1000000,
};

static const double LONGEST = 1e8; /* nanoseconds of making, in one round: then it is slow enough */

static volatile unsigned long cell, others[MORE];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int64_t checked(int64_t result) {
    if (result < 0) {
        fprintf(stderr, "service: error: a region was refused: %ld\n", (long)result);
        exit(1);
    }
    return result;
}

/* Makes up to MORE regions and deletes them; adds how many, and the time of both. */
static void turn_over(unsigned long *count, double *create, double *delete) {
    static int64_t numbers[MORE];
    unsigned long made = 0, deleted = 0, next = 1;
    double begin = now(), middle;
    do {
        for (; made < next; made++)
            numbers[made] = checked(quipu_watch_create((const void *)&others[made],
                                                       sizeof others[made], count_hit, NULL));
        next = 2 * made < MORE ? 2 * made : MORE;
        middle = now();
    } while (made < MORE && middle - begin < LONGEST);
    for (; deleted < made; deleted++)
        checked(quipu_watch_delete(numbers[deleted]));
    *create += middle - begin;
    *delete += now() - middle;
    *count += made;
}

int main(void) {
    double create = 0, delete = 0;
    unsigned long count = 0;
    if (!make_regions(PRESENT, "variables"))
        checked(-1);
    for (int round = 0; round < ROUNDS; round++)
        turn_over(&count, &create, &delete);
    checked(quipu_watch_create((const void *)&cell, sizeof cell, count_hit, NULL));
    double begin = now();
    for (unsigned long i = 0; i < HITS; i++)
        cell = i;
    double hit = now() - begin;
    printf("create %.1f\ndelete %.1f\nhit %.1f\n", create / (double)count, delete / (double)count,
           hit / HITS);
    return count_hits() == HITS ? 0 : 1;
}
