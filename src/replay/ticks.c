/* ticks.c: the additions of ticks in a process; see ticks.h.
 *
 * The program's file is read when a thread has to be stopped for the first time. A copy of a
 * process has the changed text, too. */
#include "replay/ticks.h"

bool ticks_has_code(struct process_ticks *ticks, pid_t thread) {
    if (!ticks->is_read)
        ticks->code = tick_code_open(thread);
    ticks->is_read = true;
    return ticks->code;
}

bool ticks_arm(struct process_ticks *ticks, pid_t thread) {
    if (!ticks_has_code(ticks, thread))
        return false;
    ticks->armed = ticks->armed || tick_code_arm(ticks->code, thread);
    return ticks->armed;
}

void ticks_disarm(struct process_ticks *ticks, pid_t thread) {
    if (ticks->armed && ticks_has_code(ticks, thread))
        tick_code_disarm(ticks->code, thread);
    ticks->armed = false;
}

void ticks_forget(struct process_ticks *ticks) {
    if (ticks->code)
        tick_code_close(ticks->code);
    *ticks = (struct process_ticks){0};
}

struct process_ticks ticks_of_copy(const struct process_ticks *ticks) {
    return (struct process_ticks){.armed = ticks->armed};
}
