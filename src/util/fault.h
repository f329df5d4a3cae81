/* fault.h: work that may fail by a fault of our own, without ending the program.
 *
 * It is done in a child process: whatever a failed check or a crash leaves behind goes with it, and
 * the parent, which has not begun, can begin anew and leave out what the fault came from.
 *
 *     work -> fault_subject(...) -> CHECK fails -> parent: run_guarded returns false, with both */
#ifndef QUIPU_UTIL_FAULT_H
#define QUIPU_UTIL_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault {
    uint32_t subjects; /* how many there are; 0: they are not found yet */
    uint32_t subject;  /* number of what was worked on, from 1; 0: of nothing that has a name */
    char name[256];    /* of the last subject, cut short if need be */
    unsigned line;     /* and where it stands */
    char stage[32];    /* of the work on it; "": none */
    char reason[256];  /* "'x' does not hold (y.c:12)", "ends by signal 11 (...)" */
};

/* Runs WORK with CONTEXT in a child process.  Returns whether it came to its end, with what it
 * returned in *STATUS; else FAULT tells what went wrong.  Where no process can be had, WORK is done
 * in this one, unguarded. */
bool run_guarded(int (*work)(void *context), void *context, struct fault *fault, int *status);

/* How many subjects there are. */
void fault_subjects(uint32_t count);

/* What is worked on from now on, for a fault to tell; NUMBER 0: nothing that has a name. */
void fault_subject(uint32_t number, const char *name, size_t length, unsigned line);

/* Which stage of the work on the subject begins; NULL: none. */
void fault_stage(const char *name);

/* Whether a fault is caught: there is a parent. */
bool is_guarded(void);

/* Ends guarded work by a fault. */
_Noreturn void end_by_fault(const char *reason);

#endif
