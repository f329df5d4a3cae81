/* trace_sites.h: arms the sites of traces in a program under our control. */
#ifndef QUIPU_TRACEE_TRACE_SITES_H
#define QUIPU_TRACEE_TRACE_SITES_H

#include "symbols/binary.h"

#include <sys/types.h>

/* Arms the sites of BINARY in PROCESS, all of whose threads are stopped, unless they are armed.
 * BIAS is its load address minus that of BINARY. Returns NULL or a message. */
const char *arm_trace_sites(pid_t process, const struct binary *binary, uint64_t bias);

#endif
