/* computed_jumps.h: functions whose jumps go to addresses that hand-written code computes. */
#ifndef QUIPU_FLOW_COMPUTED_JUMPS_H
#define QUIPU_FLOW_COMPUTED_JUMPS_H

#include "asm/unit.h"

/* Marks hand-written functions whose indirect jumps go to addresses that neither a table nor a
 * label gives, and functions whose labels hand-written code computes with. Nothing may be inserted
 * in them.
 *
 * requires: leave_distances, measure_unit   makes: asm_function.left_alone */
void leave_computed_jumps(struct unit *unit);

#endif
