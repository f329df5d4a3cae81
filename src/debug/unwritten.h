/* unwritten.h: whether some memory was written between two places, without going the way.
 *
 * A copy of a process shares each page with it until one of the two writes there. So a page that a
 * copy shares with an earlier one was not written between them. The kernel tells whether anybody
 * else has a page (/proc/PID/pagemap). So that this is an earlier copy, all others get pages of
 * their own first. */
#ifndef QUIPU_DEBUG_UNWRITTEN_H
#define QUIPU_DEBUG_UNWRITTEN_H

#include "debug/timeline.h"

/* Whether nothing but writes of memory stops the process, and their pages are few. */
bool watches_writes_alone(const struct timeline *timeline);

/* Whether what is watched was surely not written between the checkpoint FROM and the place of
 * LATER, which is the next one that was looked at. OTHERS: more copies, COUNT of them; 0 is none.
 */
bool is_unwritten(struct timeline *timeline, struct checkpoint *from, const struct stand *later,
                  const pid_t *others, size_t count);

#endif
