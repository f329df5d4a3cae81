/* search.h: finds the first moment of a run at which an expression is true. */
#ifndef QUIPU_MOMENT_SEARCH_H
#define QUIPU_MOMENT_SEARCH_H

#include "expression/expression.h"
#include "tracee/serial.h"

enum outcome {
    OUTCOME_FOUND,
    OUTCOME_FROM_START, /* the expression is true where the search begins */
    OUTCOME_NEVER,      /* the program has ended, and the expression was true at no look */
    OUTCOME_FAILED      /* see wrong */
};

/* Values of an object in front of the instruction and behind it. */
struct change {
    const char *name, *before, *after;
};

struct search {
    struct arena *arena;
    const struct expression *expression;
    struct run run;
    const address_list *from; /* the search begins when one of these is first reached, as linked;
                                 empty: at the first instrumented instruction */
    bool exact;               /* see each write, at any cost */
    /* The newest checkpoint, at which the expression was false; process 0: there is none. */
    struct repeated lo;
    struct watch watch; /* contents of the first process's debug registers */
    bool watching;      /* each write to the objects is seen, and was from the begin */

    uint64_t looks, unknown; /* all looks, and those at which the expression had no value */
    uint64_t writes;         /* looks that a write has caused */
    uint64_t intervals, checkpoints, tries, steps;

    uint64_t address;      /* address of the instruction, in the process */
    uint64_t place, ticks; /* the moment: the last instrumented instruction, as linked, and its
                              ticks; 0: none was seen */
    uint64_t caller; /* if `place` is 0: an address, as linked, in the instruction that called the
                        code; 0: not known */
    uint64_t thread; /* the moment's thread; 0: none was found */
    const char *moment; /* of a recording: its name; NULL: it is no recording */
    uint64_t events;    /* of a recording: those that were passed */
    pid_t standing;     /* kernel number of the thread that is stopped directly behind the moment */
    bool in_turns;      /* from the second thread on the threads ran one at a time */
    struct arena values; /* holds `changes` */
    VECTOR(struct change) changes;
    const char *instruction; /* its text, or "" if it cannot be read */
    const char *wrong;       /* "": already printed */

    void (*progress)(const struct search *search); /* may be NULL */
    uint64_t limit; /* ticks at which the expression is true; 0: not known yet */
    /* In seconds: begin of the search; time of the newest checkpoint, and what it cost; begin of
     * the interval. */
    double begun, made, spent, interval_begun;
    /* In seconds: time of the last write, and the cost of all writes (an upper bound). */
    double written, write_cost;
    uint64_t interval; /* ticks */
};

/* Runs ARGV, whose program is the binary of SEARCH's run, until the moment is found. With
 * OUTCOME_FOUND a process is stopped directly behind the instruction. With OUTCOME_FROM_START one
 * is stopped at `from` or at the begin of main. See leave_search. */
enum outcome search_moment(struct search *search, char **argv);

/* Whether the expression is true now in PROCESS, which is stopped. */
bool look_at(struct search *search, pid_t process);

/* threads.c: the rest of search_moment. The first process is stopped where it has made its second
 * thread, and the expression is false. */
enum outcome search_threads(struct search *search);

/* Divides the interval between `lo` and `limit` until it has at most TICKS ticks, or sets `wrong`.
 */
void come_closer(struct search *search, uint64_t ticks);

/* steps.c: steps from `lo` to the instruction behind which the expression is true, at most some
 * ticks behind `limit`. Sets address, place, ticks, changes, instruction, or wrong. */
void step_to_moment(struct search *search);

/* Sets `place` to where the search begins, `from` or the begin of main, with its ticks, and sets
 * `changes`. */
void find_first_place(struct search *search);

/* Releases the process that is stopped directly behind the moment, or at the begin of main if the
 * expression is true from the start. It stays stopped, for another debugger. Returns its number, or
 * 0 if there is none. end_search still kills it. */
pid_t leave_search(struct search *search);

/* Kills all processes of the run that are left. */
void end_search(struct search *search);

#endif
