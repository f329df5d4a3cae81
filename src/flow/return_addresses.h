/* return_addresses.h: functions with calls that do not return to the next instruction. */
#ifndef QUIPU_FLOW_RETURN_ADDRESSES_H
#define QUIPU_FLOW_RETURN_ADDRESSES_H

#include "asm/unit.h"

/* Marks functions that call code which changes its return address, or reads the bytes there:
 * nothing may be inserted behind such calls. Marks functions that change or read their own return
 * address and that other files may call.
 *
 * requires: measure_unit   makes: asm_function.left_alone, returns_elsewhere */
void leave_return_addresses(struct unit *unit);

#endif
