/* told_addresses.h: labels whose addresses are told in ways that are not understood. */
#ifndef QUIPU_FLOW_TOLD_ADDRESSES_H
#define QUIPU_FLOW_TOLD_ADDRESSES_H

#include "asm/unit.h"

/* Finds labels that a person's code or data tells the address of: for a handler of signals to
 * compare with, or to go on at; for code to be changed there, or looked at.
 *
 * requires: leave_computed_jumps
 * makes: pinned, returned_to, left_unseen and outside_entry of symbols, and address_taken of those
 *        of inline assembly; asm_function.left_alone */
void find_told_addresses(struct unit *unit);

#endif
