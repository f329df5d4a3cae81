/* recorded_run.h: a recording where a command takes a program. */
#ifndef QUIPU_CMD_RECORDED_RUN_H
#define QUIPU_CMD_RECORDED_RUN_H

#include "debug/program.h"

#define PROCESS_NEEDS_RECORDING "--process is for recordings: it names one of their processes"

/* Whether the command's words, from ARGV on, name a recording instead of a program. Ends quipu with
 * an error if they name one and more. */
bool is_recorded_run(char **argv);

/* Begins the replay of the PROCESS with that name of the recording at PATH, in front of its first
 * instruction. Ends quipu with an error if it cannot be played. There is one at a time. */
struct timeline *begin_recorded_run(struct arena *arena, const char *path, const char *process);
void end_recorded_run(struct timeline *timeline);

/* Begins it where the PROCESS executes a program that has debug information, as what env executes;
 * if there is none, the timeline is at the end, and the program is the last one. PROCESS NULL: the
 * first one that has such a program. */
struct timeline *begin_with_debug_information(struct arena *arena, const char *path,
                                              const char *process);

/* Goes on to the first pass of one of PLACES, as linked. Returns false if there is none. */
bool go_to_first_pass(struct timeline *timeline, const address_list *places);

/* Returns the exit status of the run, which is at its end; if that is not the program's own, says
 * why. */
int recorded_status(struct timeline *timeline);

#endif
