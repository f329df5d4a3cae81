/* event_tables.h: event counts at an instruction, from the tables in a binary: format/event.h. */
#ifndef QUIPU_SYMBOLS_EVENT_TABLES_H
#define QUIPU_SYMBOLS_EVENT_TABLES_H

#include "format/event.h"
#include "symbols/binary.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds to SUMS, by kind, the potentials at ADDRESS, as linked: the events of a thread there that
 * its cells do not contain. RCX is the value of that register. Ticks do not depend on it. Adds
 * nothing outside of instrumented code. Returns NULL, or an error message if the tables are
 * corrupt. */
const char *add_events_above(const struct binary *binary, uint64_t address, uint64_t rcx,
                             int64_t sums[QUIPU_EVENTS]);

/* Returns the greatest absolute value of all potentials of ticks in the tables. */
uint64_t most_ticks_above(const struct binary *binary);

/* Whether ADDRESS, as linked, is in instrumented code that has such tables. */
bool has_events_at(const struct binary *binary, uint64_t address);

/* Calls TAKE for each piece of such code, with its START, as linked, and its LENGTH in bytes. */
void each_instrumented(const struct binary *binary,
                       void (*take)(void *context, uint64_t start, uint64_t length), void *context);

#endif
