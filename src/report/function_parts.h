/* function_parts.h: functions that gcc has cut in parts.
 *
 * Where gcc inlines only the begin of f, it makes a function f.part.0 of the rest. Its debug
 * information is that of f. So its code is a piece of f's, like f.cold, with calls of its own. */
#ifndef QUIPU_REPORT_FUNCTION_PARTS_H
#define QUIPU_REPORT_FUNCTION_PARTS_H

#include "data/profile.h"

/* Whether FUNCTION is a part of another one. */
bool is_function_part(const struct function *function);

/* Returns the length of the name without what marks a part. */
size_t whole_name_length(const char *name);

/* Returns the function that FUNCTION is a part of. Returns FUNCTION itself if it is none, or if all
 * calls of the whole one were inlined, so that it is not there. */
const struct function *whole_function(const struct function *function);

#endif
