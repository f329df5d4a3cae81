/* sink.h: where chunks of a trace go: to its file, as far as its window needs them. */
#ifndef QUIPU_TRACE_SINK_H
#define QUIPU_TRACE_SINK_H

#include "trace/window.h"
#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_sink;
struct trace_writer;
struct quipu_trace_chunk;

/* Makes the trace at OUTPUT anew; if it cannot, this is an error that ends quipu. LEVEL and JOBS
 * are those of writer.h. Of what is added, WINDOW is kept. */
struct trace_sink *sink_begin(struct arena *arena, const char *output, int level, unsigned jobs,
                              const struct trace_window *window);

/* Its writer, which completes the file. */
struct trace_writer *sink_writer(const struct trace_sink *sink);

/* Whether records of threads have come. */
bool sink_has_records(const struct trace_sink *sink);

/* Adds the chunk with its CONTENTS of SIZE bytes, of which zeros at the end are left out. */
void sink_add(struct trace_sink *sink, const struct quipu_trace_chunk *chunk,
              const uint8_t *contents, size_t size);

/* The same, of CONTENTS that stay where they are: see writer_add_lent. */
void sink_add_lent(struct trace_sink *sink, const struct quipu_trace_chunk *chunk,
                   const uint8_t *contents, size_t size, void (*release)(void *of), void *of);

#endif
