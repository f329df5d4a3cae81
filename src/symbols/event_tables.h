/* event_tables.h: event counts at an instruction, by the tables in a binary: format/event.h. */
#ifndef QUIPU_SYMBOLS_EVENT_TABLES_H
#define QUIPU_SYMBOLS_EVENT_TABLES_H

#include "format/event.h"
#include "symbols/binary.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds to SUMS, by kind, what has happened above the cells where a thread stands at ADDRESS, as
 * linked, with RCX in that register: nothing outside of instrumented code.  Ticks do not depend on
 * it.  Returns NULL, or what is wrong with the tables. */
const char *add_events_above(const struct binary *binary, uint64_t address, uint64_t rcx,
                             int64_t sums[QUIPU_EVENTS]);

/* The most ticks, either way, that the tables know of above a cell. */
uint64_t most_ticks_above(const struct binary *binary);

/* Whether there is instrumented code at ADDRESS, as linked, with such tables. */
bool has_events_at(const struct binary *binary, uint64_t address);

/* Calls TAKE for each piece of such code: where it starts, as linked, and its bytes. */
void each_instrumented(const struct binary *binary,
                       void (*take)(void *context, uint64_t start, uint64_t length), void *context);

#endif
