/* formats.h: calls that write according to their format. */
#ifndef QUIPU_PASS_WATCH_FORMATS_H
#define QUIPU_PASS_WATCH_FORMATS_H

#include "pass/plan.h"

enum {
    FORMAT_ON_STACK = 1000 /* arguments: more than fit in registers */
};

/* What printf and similar functions do with a format. */
struct format_use {
    bool writes;        /* to an argument's target, by %n; or the format is not understood */
    uint32_t arguments; /* that it takes, if they fit in registers; otherwise FORMAT_ON_STACK or
                         * more */
};

struct format_use use_of_format(const char *format);

/* Returns the use of the format in argument ARGUMENT, from 0, of the call or jump at the end of
 * BLOCK. If it is not a literal of this unit on each path to there, `writes` is true. */
struct format_use use_of_argument(const struct planner *p, const struct basic_block *block,
                                  uint32_t argument);

#endif
