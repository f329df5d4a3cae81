/* instrument.h: instruments a unit. */
#ifndef QUIPU_PASS_INSTRUMENT_H
#define QUIPU_PASS_INSTRUMENT_H

#include "pass/pass.h"

/* Instruments UNIT, which is parsed and measured, and appends the new text to OUT. Returns the
 * number of functions that were left alone. */
size_t instrument_unit(struct unit *unit, const struct pass_options *options, const char *version,
                       struct buffer *out);

#endif
