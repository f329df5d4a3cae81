/* diversion.h: a copy of the present process, in which the user may change what he wants, and call
 * functions. It is thrown away; the recorded run knows nothing of it. */
#ifndef QUIPU_DEBUG_DIVERSION_H
#define QUIPU_DEBUG_DIVERSION_H

#include "debug/timeline.h"

#include <sys/user.h>

struct diversion {
    bool active;
    bool changed; /* its memory was, and it has not gone on since */
    struct stand real;
    pid_t thread; /* the recorded number of the one whose registers were written last; 0: none */
    struct user_regs_struct registers;        /* that it had before */
    pid_t beside;                             /* another one that was stepped last; 0: none */
    struct user_regs_struct beside_registers; /* that it had before */
};

/* The timeline's process becomes a copy, if it is not one yet. Returns false if none can be made.
 */
bool begin_diversion(struct diversion *diversion, struct timeline *timeline);

/* The timeline has its own process again. Returns whether something was changed that is lost. */
bool end_diversion(struct diversion *diversion, struct timeline *timeline);

/* The registers of the thread RECORDED are about to be written, in the copy: it is the one that the
 * copy goes on with. Returns its number, or 0 if it has none. */
pid_t divert_thread(struct diversion *diversion, const struct timeline *timeline, pid_t recorded);

/* Whether the copy has other registers than the process: it is to go on by itself. */
bool is_elsewhere(const struct diversion *diversion, const struct timeline *timeline);

/* That thread goes on, with STEP by one instruction, to a breakpoint: HALT_POINT; a signal, which
 * SIGNAL becomes: HALT_SIGNAL; or HALT_STEP, HALT_INTERRUPT. HALT_END: it is gone. Its system calls
 * fail, but for those that change only its memory, and writes to standard output and error, which
 * are given to the timeline's `divert_output`. */
struct halt run_diversion(struct diversion *diversion, struct timeline *timeline, bool step,
                          int *signal);

#endif
