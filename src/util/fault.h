/* fault.h: guarded work: a fault of quipu's own does not end the program.
 *
 * A fault is a failed check or a crash. Guarded work runs in a child process, so everything that a
 * fault leaves behind disappears with the child. The parent has not begun the work. It can start
 * again, and leave out the subject that causes the fault.
 *
 *     work -> fault_subject(...) -> CHECK fails -> parent: run_guarded returns false, with both */
#ifndef QUIPU_UTIL_FAULT_H
#define QUIPU_UTIL_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault {
    uint32_t subjects; /* number of subjects; 0: not known yet */
    uint32_t subject;  /* number of the subject that was worked on, from 1; 0: none */
    char name[256];    /* of the last subject; may be truncated */
    unsigned line;     /* and its line */
    char stage[32];    /* stage of the work on the subject; "": none */
    char reason[256];  /* "'x' does not hold (y.c:12)", "ends by signal 11 (...)" */
};

/* Runs WORK with CONTEXT in a child process. Returns true, with WORK's result in *STATUS, if WORK
 * reached its end. Otherwise returns false, and FAULT describes what went wrong. If no child
 * process can be made, WORK runs in this process, unguarded. */
bool run_guarded(int (*work)(void *context), void *context, struct fault *fault, int *status);

/* Sets the number of subjects. */
void fault_subjects(uint32_t count);

/* Sets the subject of the work from now on, which a fault then reports. NUMBER 0: none. */
void fault_subject(uint32_t number, const char *name, size_t length, unsigned line);

/* Sets the stage of the work on the subject from now on. NULL: none. */
void fault_stage(const char *name);

/* Whether this process does guarded work. */
bool is_guarded(void);

/* Ends guarded work by a fault. */
_Noreturn void end_by_fault(const char *reason);

#endif
