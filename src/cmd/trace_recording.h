/* trace_recording.h: quipu trace RECORDING. */
#ifndef QUIPU_CMD_TRACE_RECORDING_H
#define QUIPU_CMD_TRACE_RECORDING_H

#include "trace/collector.h"

/* Makes the trace of the recorded run at PATH. Returns the exit status: that of the program, if all
 * is well. */
int trace_recording(const struct collector_options *options, const char *path);

#endif
