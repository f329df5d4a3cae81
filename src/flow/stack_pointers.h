/* stack_pointers.h: functions whose stack pointer does not point to a stack. */
#ifndef QUIPU_FLOW_STACK_POINTERS_H
#define QUIPU_FLOW_STACK_POINTERS_H

#include "asm/unit.h"

/* Marks hand-written functions that compute with the stack pointer as with any other register, or
 * read an array by it. Inserted code may need the stack.
 *
 * requires: measure_unit   makes: asm_function.left_alone */
void leave_stack_pointers(struct unit *unit);

#endif
