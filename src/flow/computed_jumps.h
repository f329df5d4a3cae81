/* computed_jumps.h: functions whose jumps go to addresses that a person's code computes. */
#ifndef QUIPU_FLOW_COMPUTED_JUMPS_H
#define QUIPU_FLOW_COMPUTED_JUMPS_H

#include "asm/unit.h"

/* Marks functions written by a person whose indirect jumps go where no table and no label tells,
 * and those whose labels they compute with: nothing may be inserted in them.
 *
 * requires: leave_distances, measure_unit   makes: asm_function.left_alone */
void leave_computed_jumps(struct unit *unit);

#endif
