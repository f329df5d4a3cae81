/* loop_forms.h: loops that have two forms (format/watch.h, QUIPU_SITE_TRACE_COPY). The unrolled one
 * runs while no trace is recorded. An instruction has the same ticks in both, so a moment has the
 * name that it has in the recorded form. */
#ifndef QUIPU_SYMBOLS_LOOP_FORMS_H
#define QUIPU_SYMBOLS_LOOP_FORMS_H

#include "symbols/binary.h"

/* Returns the address of the instruction at ADDRESS in the recorded form of its loop; ADDRESS if it
 * is in no unrolled one. All addresses are as linked. */
uint64_t recorded_form(const struct binary *binary, uint64_t address);

/* Adds to LIST the addresses that its instructions have in the other forms of their loops. */
void add_forms(struct arena *arena, const struct binary *binary, address_list *list);

#endif
