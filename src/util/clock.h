/* clock.h: how much time goes by. */
#ifndef QUIPU_UTIL_CLOCK_H
#define QUIPU_UTIL_CLOCK_H

/* Seconds since some moment in the past, the same for all calls of a run. */
double clock_seconds(void);

#endif
