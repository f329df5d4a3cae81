/* search.h: the first moment of a run at which an expression is true. */
#ifndef QUIPU_MOMENT_SEARCH_H
#define QUIPU_MOMENT_SEARCH_H

#include "expression/expression.h"
#include "tracee/serial.h"

enum outcome {
    OUTCOME_FOUND,
    OUTCOME_FROM_START, /* true where the search begins */
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
    const address_list *from; /* it begins when one of them is first reached, as linked; empty: at
                                 the first instrumented instruction */
    bool exact;               /* see each write, whatever it costs */
    struct repeated lo;       /* the newest checkpoint at which it was false; process 0: none */
    struct watch watch;       /* what the first process's debug registers hold */
    bool watching;            /* each write to the objects is seen, and was from the begin on */

    uint64_t looks, unknown; /* all, and those at which it had no value */
    uint64_t writes;         /* those of the looks that a write has caused */
    uint64_t intervals, checkpoints, tries, steps;

    uint64_t address;      /* of the instruction, in the process */
    uint64_t place, ticks; /* the moment: the last instruction of instrumented code, as linked,
                              0: none was seen; and its ticks */
    uint64_t caller;       /* no place: an address, as linked, in the instruction that has called
                              the code; 0: not known */
    uint64_t thread;       /* the moment's; 0: none was found */
    pid_t standing;        /* for the kernel: the thread that stands right behind it */
    bool in_turns;         /* from the second thread on they ran one at a time */
    struct arena values;   /* of changes */
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

/* Runs ARGV, whose program is the binary of SEARCH's run, until it is found.  With OUTCOME_FOUND
 * some process stands right behind the instruction, with OUTCOME_FROM_START at `from`, or the begin
 * of main; see leave_search. */
enum outcome search_moment(struct search *search, char **argv);

/* Whether the expression is true now in PROCESS, which stands. */
bool look_at(struct search *search, pid_t process);

/* threads.c: the first process stands where it has made a second thread, and it is false.  The rest
 * of search_moment. */
enum outcome search_threads(struct search *search);

/* Divides what is between `lo` and `limit` until these are TICKS apart, or sets wrong. */
void come_closer(struct search *search, uint64_t ticks);

/* steps.c: from `lo` on, the instruction behind which the expression is true, at the latest some
 * ticks behind `limit`; sets address, place, ticks, changes, instruction, or wrong. */
void step_to_moment(struct search *search);

/* Sets the place to where the search begins, `from` or the begin of main, with its ticks, and
 * `changes`. */
void find_first_place(struct search *search);

/* Lets go of the process that stands right behind the moment, or where it is true from the start at
 * the begin of main, for another debugger: it is stopped.  Returns its number, 0 where there is
 * none.  end_search ends it all the same. */
pid_t leave_search(struct search *search);

/* Ends what is left of the run. */
void end_search(struct search *search);

#endif
