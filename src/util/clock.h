/* clock.h: measures time. */
#ifndef QUIPU_UTIL_CLOCK_H
#define QUIPU_UTIL_CLOCK_H

/* Returns the seconds since some point in the past, which is the same for all calls of a run. */
double clock_seconds(void);

#endif
