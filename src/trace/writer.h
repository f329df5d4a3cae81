/* writer.h: writes a trace file, block by block; format/trace.h has its format. */
#ifndef QUIPU_TRACE_WRITER_H
#define QUIPU_TRACE_WRITER_H

#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct quipu_trace_chunk;
struct trace_writer;

/* Makes the file at PATH anew; if it cannot, this is an error that ends quipu. LEVEL is that of
 * zstd; 0: contents are stored as they are. */
struct trace_writer *writer_begin(struct arena *arena, const char *path, int level);

/* Adds a chunk with its CONTENTS of SIZE bytes, at most QUIPU_TRACE_CONTENTS_MAX. */
void writer_add(struct trace_writer *writer, const struct quipu_trace_chunk *chunk,
                const void *contents, size_t size);

/* Whether something could not be written. Then nothing more is written. */
bool writer_failed(const struct trace_writer *writer);

/* Completes the file. FLAGS are of enum quipu_trace_end. Returns an error message, or NULL. */
const char *writer_end(struct trace_writer *writer, unsigned flags);

#endif
