/* count.h: what the files of exact counts offer each other; private to this folder. */
#ifndef QUIPU_PASS_COUNT_COUNT_H
#define QUIPU_PASS_COUNT_COUNT_H

#include "pass/feature.h"

/* note.c: the note that readers solve the function's counts from. */
void write_function_note(struct planner *p, uint32_t number);

#endif
