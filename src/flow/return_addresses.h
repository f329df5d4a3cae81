/* return_addresses.h: functions that call what does not come back to where it was called from. */
#ifndef QUIPU_FLOW_RETURN_ADDRESSES_H
#define QUIPU_FLOW_RETURN_ADDRESSES_H

#include "asm/unit.h"

/* Marks functions with calls of code that changes the address that it returns to, or reads what
 * stands there: nothing may be inserted behind such calls.  Marks functions that other files may
 * call so.
 *
 * requires: measure_unit   makes: asm_function.left_alone, returns_elsewhere */
void leave_return_addresses(struct unit *unit);

#endif
