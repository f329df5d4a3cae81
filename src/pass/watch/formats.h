/* formats.h: calls that write what their format says. */
#ifndef QUIPU_PASS_WATCH_FORMATS_H
#define QUIPU_PASS_WATCH_FORMATS_H

#include "pass/plan.h"

enum {
    FORMAT_ON_STACK = 1000 /* arguments: more than registers hold */
};

/* What printf and its like do by a format. */
struct format_use {
    bool writes;        /* to where an argument points, by %n, or it is not understood */
    uint32_t arguments; /* that it takes, registers enough; else FORMAT_ON_STACK or more */
};

struct format_use use_of_format(const char *format);

/* Finds the use of the format that argument ARGUMENT, from 0, of the call or jump at the end of
 * BLOCK is: where it is not a literal of this unit on each way there, it writes. */
struct format_use use_of_argument(const struct planner *p, const struct basic_block *block,
                                  uint32_t argument);

#endif
