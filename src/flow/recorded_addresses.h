/* recorded_addresses.h: labels whose addresses are recorded for an unknown use. */
#ifndef QUIPU_FLOW_RECORDED_ADDRESSES_H
#define QUIPU_FLOW_RECORDED_ADDRESSES_H

#include "asm/unit.h"

/* Finds labels whose addresses hand-written code or data records. A signal handler may compare an
 * address with them or continue there, or the program may change or read the code there.
 *
 * requires: leave_computed_jumps
 * makes: pinned, returned_to, left_unseen, switched and outside_entry of symbols, and address_taken
 * of those of inline assembly; kept of statements; asm_function.left_alone */
void find_recorded_addresses(struct unit *unit);

#endif
