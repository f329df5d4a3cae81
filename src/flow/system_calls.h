/* system_calls.h: functions with labels next to their system calls, for signal handlers, and those
 * that end a handler or a thread. */
#ifndef QUIPU_FLOW_SYSTEM_CALLS_H
#define QUIPU_FLOW_SYSTEM_CALLS_H

#include "asm/unit.h"

/* Marks functions in which a person has put a label right in front of a system call, or right
 * behind it, whose address is known elsewhere, that return from a signal handler, or that end their
 * thread right behind another call: nothing may be inserted in them.
 *
 * requires: find_functions, measure_unit   makes: asm_function.left_alone */
void leave_system_calls(struct unit *unit);

#endif
