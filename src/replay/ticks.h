/* ticks.h: the additions of ticks in a process that is recorded or replayed (tracee/tick_stop.h).
 */
#ifndef QUIPU_REPLAY_TICKS_H
#define QUIPU_REPLAY_TICKS_H

#include "tracee/tick_stop.h"

struct process_ticks {
    struct tick_code *code; /* NULL: not read, or there are none */
    bool is_read;
    bool armed; /* its text was changed */
};

/* Whether the process of THREAD has additions at which its threads can be stopped. */
bool ticks_has_code(struct process_ticks *ticks, pid_t thread);

/* The same, and its text is changed for that. No thread of the process executes. */
bool ticks_arm(struct process_ticks *ticks, pid_t thread);

/* The text of the process of THREAD is that of its file again. */
void ticks_disarm(struct process_ticks *ticks, pid_t thread);

/* The process has another program, or none. */
void ticks_forget(struct process_ticks *ticks);

/* Returns what a copy of the process has. */
struct process_ticks ticks_of_copy(const struct process_ticks *ticks);

#endif
