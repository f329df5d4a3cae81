/* recorded_process.h: which process of a recording a command looks at, where none is named. */
#ifndef QUIPU_CMD_RECORDED_PROCESS_H
#define QUIPU_CMD_RECORDED_PROCESS_H

#include "util/arena.h"

/* Returns the name of the first process of the recording at PATH that has executed a program with
 * debug information, in ARENA; "1" if none has. */
const char *choose_process(struct arena *arena, const char *path);

/* Returns the name of the process of which the moment TEXT is. If that does not tell, it is chosen
 * as above. */
const char *process_of_moment(struct arena *arena, const char *path, const char *text);

#endif
