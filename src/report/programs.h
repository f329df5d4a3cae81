/* programs.h: which programs the processes of a profile ran. */
#ifndef QUIPU_REPORT_PROGRAMS_H
#define QUIPU_REPORT_PROGRAMS_H

#include "data/profile.h"

struct program {
    const char *path;
    uint64_t processes;
};

/* Whether SELECTION has PROCESS, or one of its threads. */
bool selects(struct selection selection, const struct process *process);

typedef VECTOR(struct program) program_vector;

/* Returns the programs of the selected processes, those with the most processes first. Lives in
 * ARENA. */
program_vector find_programs(struct arena *arena, const struct profile *profile,
                             struct selection selection);

/* Returns what the selected processes ran, for a heading: the command line of a single process that
 * is not merged; otherwise "cc1 (120), as (118) and 3 other programs". "nothing" if there is none.
 */
const char *programs_text(struct arena *arena, const struct profile *profile,
                          struct selection selection);

/* Returns the name of the program that PROCESS ran: "mawk"; "mawk and others" if it is merged from
 * runs of several. */
const char *program_text(struct arena *arena, const struct process *process);

/* Returns the number of processes whose data the selected ones are; 0 if a merged file does not
 * record it. */
uint64_t count_processes(const struct profile *profile, struct selection selection);

/* The same as text: "3 processes", "120 merged processes", "merged processes". */
const char *processes_text(struct arena *arena, const struct profile *profile,
                           struct selection selection);

#endif
