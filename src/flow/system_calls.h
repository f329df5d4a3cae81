/* system_calls.h: functions with labels at their system calls, for signal handlers, and functions
 * that end a handler or a thread. */
#ifndef QUIPU_FLOW_SYSTEM_CALLS_H
#define QUIPU_FLOW_SYSTEM_CALLS_H

#include "asm/unit.h"

/* Marks hand-written functions into which nothing may be inserted: they have a label directly
 * before or behind a system call, whose address is known elsewhere; or they return from a signal
 * handler; or they end their thread directly behind another system call.
 *
 * requires: find_functions, measure_unit   makes: asm_function.left_alone */
void leave_system_calls(struct unit *unit);

#endif
