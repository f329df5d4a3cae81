/* count.h: declarations shared by the files of exact counts; private to this folder. */
#ifndef QUIPU_PASS_COUNT_COUNT_H
#define QUIPU_PASS_COUNT_COUNT_H

#include "pass/feature.h"

/* note.c: writes the note from which readers compute the function's counts. */
void write_function_note(struct planner *p, uint32_t number);

#endif
