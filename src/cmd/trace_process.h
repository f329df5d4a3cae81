/* trace_process.h: quipu trace --pid: a process that runs already records. */
#ifndef QUIPU_CMD_TRACE_PROCESS_H
#define QUIPU_CMD_TRACE_PROCESS_H

#include <sys/types.h>

/* Makes sure that process PID has code that records, and arms that code. Ends quipu with an error
 * if it cannot. */
void need_recording_process(pid_t pid);

/* Tells process PID to record into DIRECTORY. Ends quipu with an error if it cannot, or if another
 * quipu does that. */
void begin_process_recording(pid_t pid, const char *directory);

/* Removes what begin_process_recording has made. */
void end_process_recording(pid_t pid);

#endif
