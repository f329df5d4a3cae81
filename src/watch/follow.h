/* follow.h: objects that are reached through pointers.
 *
 * The pointers to an object are watched, too. A thread that writes one of them waits until they
 * have been read again. */
#ifndef QUIPU_WATCH_FOLLOW_H
#define QUIPU_WATCH_FOLLOW_H

#include "watch/session.h"

/* Prepares the paths of all objects, before the program starts. Returns whether any has pointers.
 */
bool follow_begin(struct session *session);

/* Returns the address, as linked, at which the program must stop for that: its initial data are in
 * memory there, and the runtime has not read the requests yet. */
uint64_t follow_place(struct session *session);

/* Reads all pointers for the first time. The program is stopped at follow_place. */
void follow_start(struct session *session);

/* HIT has changed a pointer to the object WATCHED. Returns the answer to the thread. */
uint32_t follow_hit(struct session *session, uint32_t watched, const struct quipu_hit *hit);

#endif
