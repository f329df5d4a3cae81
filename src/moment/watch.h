/* watch.h: the writes to what an expression reads, seen by debug registers. */
#ifndef QUIPU_MOMENT_WATCH_H
#define QUIPU_MOMENT_WATCH_H

#include "moment/search.h"

/* Sets WATCH to where the objects are now, in PROCESS.  Returns false where they are too many, or
 * the machine has no debug registers. */
bool find_watch(const struct search *search, pid_t process, struct watch *watch);

/* PROCESS stops behind each write to the objects where they are now.  Returns false where that
 * cannot be, and it stops at none. */
bool watch_objects(const struct search *search, pid_t process, struct watch *watch);

/* The first process of the run stands, and stops from now on behind each write to the objects, if
 * that can be. */
void begin_watching(struct search *search);

/* It has stopped so, and the expression is false. */
void keep_watching(struct search *search, enum stop stop);

#endif
