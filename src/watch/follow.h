/* follow.h: objects that pointers lead to.
 *
 * All that is read on the way to an object is watched, too; its writers wait while the way is gone
 * anew. */
#ifndef QUIPU_WATCH_FOLLOW_H
#define QUIPU_WATCH_FOLLOW_H

#include "watch/session.h"

/* Whether there is any such object.  Called before the program is started. */
bool follow_begin(struct session *session);

/* Where the program is to stop for that, an address as linked: what it begins with is in memory
 * there, and the runtime has not looked at the requests yet. */
uint64_t follow_place(struct session *session);

/* Goes all ways for the first time; the program stands there. */
void follow_start(struct session *session);

/* HIT has changed something on the way to the object WATCHED.  Returns the answer. */
uint32_t follow_hit(struct session *session, uint32_t watched, const struct quipu_hit *hit);

#endif
