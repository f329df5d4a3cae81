/* conditions.h: the conditions of a breakpoint, which the server evaluates at each pass.
 *
 * The client need not be asked then, which takes much longer; backwards all the more, as each pass
 * that it has to look at is searched for by itself. */
#ifndef QUIPU_DEBUG_CONDITIONS_H
#define QUIPU_DEBUG_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct points;

/* A compiled expression, and the next one. NULL is an empty list, which always holds. */
struct point_condition;

/* Takes ";XSIZE,BYTES..." from TEXT. CONDITIONS becomes the list, which the caller owns. It becomes
 * NULL where one cannot be evaluated: then the client has to look at each pass. Returns NULL, or a
 * message. */
const char *conditions_read(const char *text, struct point_condition **conditions);

void conditions_free(struct point_condition *conditions);

/* Whether one of CONDITIONS is true in THREAD, or cannot be told: the client evaluates it again,
 * and reports what is wrong. Bytes that POINTS have replaced are read as they were. */
bool conditions_hold(const struct point_condition *conditions, const struct points *points,
                     pid_t thread);

#endif
