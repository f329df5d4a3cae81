/* inlined.h: functions that ran only as parts of others.
 *
 * The compiler inlines a function into its callers, and the function itself stays in the binary,
 * never called. Its count of calls is 0, but its source ran. */
#ifndef QUIPU_REPORT_INLINED_H
#define QUIPU_REPORT_INLINED_H

#include "data/profile.h"

/* The source lines that ran as parts of inlined calls, by file. */
struct inlined_lines {
    struct inlined_file {
        bool *ran; /* by line; of lines below `count` */
        uint32_t count;
    } * files; /* by index in profile.files */
};

/* Returns those of PROFILE, which was counted, in ARENA. */
struct inlined_lines find_inlined_lines(struct arena *arena, const struct profile *profile);

/* Whether FUNCTION never ran itself, but an inlined copy of it did. Without debug information that
 * is not known, and the answer is false. */
bool ran_inlined(const struct inlined_lines *lines, const struct function *function);

#endif
