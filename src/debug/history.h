/* history.h: the last writes, in front of the present place, of what an expression reads. */
#ifndef QUIPU_DEBUG_HISTORY_H
#define QUIPU_DEBUG_HISTORY_H

#include "debug/timeline.h"

/* A write, and what the expression was in front of it and is behind it. */
struct past_write {
    const char *moment, *line, *before, *after;
};

/* Sets WRITES to the last WANTED writes of what the expression TEXT reads, the last one last, and
 * COUNT to their number. The timeline returns to where it was. Returns NULL; or a message; or "" if
 * the user has stopped it. All strings are in ARENA. */
const char *find_history(struct timeline *timeline, struct arena *arena, const char *text,
                         size_t wanted, struct past_write *writes, size_t *count);

#endif
