/* stack_pointers.h: functions whose stack pointer points to no stack. */
#ifndef QUIPU_FLOW_STACK_POINTERS_H
#define QUIPU_FLOW_STACK_POINTERS_H

#include "asm/unit.h"

/* Marks functions written by a person that compute with the stack pointer as with any register, or
 * read an array by it: inserted code may need the stack.
 *
 * requires: measure_unit   makes: asm_function.left_alone */
void leave_stack_pointers(struct unit *unit);

#endif
