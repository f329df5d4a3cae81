/* listing_switch.h: the rows of a listing that tell where a thread left the processor. */
#ifndef QUIPU_TRACE_LISTING_SWITCH_H
#define QUIPU_TRACE_LISTING_SWITCH_H

#include "trace/order.h"

#include <stdio.h>

/* Writes a row to OUT: THREAD has left the processor as LEAVES tells. ASSEMBLY: other rows have the
 * text of their instructions; MOMENTS: ... the names of moments. */
typedef void write_switch_row(FILE *out, const struct traced_thread *thread,
                              const struct order_switch *leaves, bool moments, bool assembly);

write_switch_row write_text_switch, write_json_switch, write_csv_switch;

#endif
