/* source_position.h: where a message about a function points. */
#ifndef QUIPU_CMD_SOURCE_POSITION_H
#define QUIPU_CMD_SOURCE_POSITION_H

#include "asm/unit.h"

struct source_position {
    const char *file;
    unsigned line; /* 0: not known */
};

/* Returns where FUNCTION stands for the user: in the unit's input; or, if that is a temporary file
 * of the compiler's, in the source that it names. Names are the unit's, or in ARENA. */
struct source_position position_of_function(const struct unit *unit,
                                            const struct asm_function *function,
                                            struct arena *arena);

#endif
