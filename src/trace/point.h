/* point.h: where in a function a signal has interrupted it. */
#ifndef QUIPU_TRACE_POINT_H
#define QUIPU_TRACE_POINT_H

#include "trace/trace.h"

struct point {
    bool known;
    uint32_t record; /* its code is there: in front of it, or behind it if `done`; or NONE_OF */
    bool done;
    uint32_t piece, index; /* the next instruction, without a record */
};

/* Returns the point of FUNCTION at ADDRESS, as linked. It is not known for an address elsewhere,
 * and in some code out of line. */
struct point find_point(struct arena *arena, struct traced_function *function, uint64_t address);

/* Whether ADDRESS, as linked, is between the first and the last instruction of a function of
 * MODULE, or in code that is inserted in front of them. */
bool is_in_function(struct traced_module *module, uint64_t address);

/* Returns the point of FUNCTION in the call that is directly in front of ADDRESS, as linked: behind
 * the last instruction of a piece. It is not known if there is no call. */
struct point find_call_point(struct arena *arena, struct traced_function *function,
                             uint64_t address);

/* Returns the record of the function whose code out of line, which ends with a jump back, has
 * ADDRESS, as linked; or NONE_OF. It is DONE unless a call follows, or the record's reservation. */
uint32_t record_of_stub(const struct traced_function *function, uint64_t address, bool *done);

#endif
