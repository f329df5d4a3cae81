/* gap.h: the names of what is not in a trace. */
#ifndef QUIPU_TRACE_GAP_H
#define QUIPU_TRACE_GAP_H

#include "trace/trace.h"

/* Names by call. Zeros are empty; gap_names_release frees what it holds. */
struct gap_names {
    struct arena arena;
    struct map numbers; /* in `names`, by the gap */
    VECTOR(const char *) names;
};

/* Returns the name of the code that ran in GAP, which must be one: the callee as the call names it,
 * or "indirect call", "system call NAME", "caller of FUNCTION", "code behind FUNCTION", or "not
 * recorded". A system call that the table (format/system_calls.h) does not have is named by its
 * number. Valid until gap_names_release. */
const char *gap_name(struct gap_names *names, const struct trace_gap *gap);

void gap_names_release(struct gap_names *names);

#endif
