/* watch.h: debug registers that see writes to what an expression reads. */
#ifndef QUIPU_MOMENT_WATCH_H
#define QUIPU_MOMENT_WATCH_H

#include "moment/search.h"

/* Sets WATCH to the present addresses of the objects in PROCESS. Returns false if they need too
 * many debug registers, or the machine has none. */
bool find_watch(const struct search *search, pid_t process, struct watch *watch);

/* Makes PROCESS stop behind each write to the objects at their present addresses. Returns false if
 * that is not possible; then nothing is watched. */
bool watch_objects(const struct search *search, pid_t process, struct watch *watch);

/* The first process of the run is stopped. From now on it stops behind each write to the objects,
 * if that is possible. */
void begin_watching(struct search *search);

/* The first process has stopped with STOP, and the expression is false. Watches the new addresses.
 */
void keep_watching(struct search *search, enum stop stop);

#endif
