/* search.h: the first moment of a run at which an expression is true. */
#ifndef QUIPU_MOMENT_SEARCH_H
#define QUIPU_MOMENT_SEARCH_H

#include "moment/expression.h"
#include "moment/repeat.h"
#include "x86/kernel.h"

enum outcome {
    OUTCOME_FOUND,
    OUTCOME_FROM_START, /* true before any instrumented code ran */
    OUTCOME_NEVER,      /* the program has ended, and it was true at no look */
    OUTCOME_FAILED      /* see wrong */
};

/* What one of the objects was in front of the instruction and behind it. */
struct change {
    const char *name, *before, *after;
};

struct search {
    struct arena *arena;
    const struct expression *expression;
    struct run run;
    bool exact;         /* see each write, whatever it costs */
    struct repeated lo; /* the newest checkpoint at which it was false; process 0: none */
    struct watch {
        uint64_t addresses[WATCHES_MAX];
        uint32_t sizes[WATCHES_MAX];
        size_t count;
    } watch;       /* what debug registers hold */
    bool watching; /* each write to the objects is seen, and was from the begin on */

    uint64_t looks, unknown; /* all, and those at which it had no value */
    uint64_t writes;         /* those of the looks that a write has caused */
    uint64_t intervals, checkpoints, tries, steps;

    uint64_t address;      /* of the instruction, in the process */
    uint64_t place, ticks; /* the moment: the last instruction of instrumented code, as linked,
                              0: none was seen; and its ticks */
    VECTOR(struct change) changes;
    const char *instruction; /* its text, "" where it cannot be read */
    const char *wrong;       /* "": that was said */

    void (*progress)(const struct search *search); /* may be NULL */
    uint64_t limit;                                /* ticks at which it is true; 0: not known yet */
    double begun, made, spent,
        interval_begun;         /* seconds: the search, the newest checkpoint and what it took */
    double written, write_cost; /* seconds: the last write, and what all may have cost */
    uint64_t interval;          /* ticks */
};

/* Runs ARGV, whose program is the binary of SEARCH's run, until it is found.  Nothing of the run is
 * left then, but with OUTCOME_FOUND and OUTCOME_FROM_START `lo`, which stands right behind the
 * instruction. */
enum outcome search_moment(struct search *search, char **argv);

/* steps.c: from `lo` on, the instruction behind which the expression is true, at the latest some
 * ticks behind `limit`; sets address, place, ticks, changes, instruction, or wrong. */
void step_to_moment(struct search *search);

/* Sets the place to the begin of main, with its ticks, and `changes`. */
void find_first_place(struct search *search);

/* Ends what is left of the run. */
void end_search(struct search *search);

#endif
