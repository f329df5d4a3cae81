/* writer.h: writes a trace file, block by block; format/trace.h has its format.
 *
 * Several threads compress blocks at the same time. Blocks are in the file in the order in which
 * they were added. */
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

/* From now on up to JOBS threads compress, on the processors that the caller may use; 0: as many as
 * there are of these. Up to here the caller does it. */
void writer_start_threads(struct trace_writer *writer, unsigned jobs);

/* Returns memory of QUIPU_TRACE_CONTENTS_MAX bytes for the next chunk's contents. Waits if the
 * threads are behind. It is good up to the next chunk that is added. */
uint8_t *writer_contents(struct trace_writer *writer);

/* Adds a chunk with its CONTENTS of SIZE bytes, at most QUIPU_TRACE_CONTENTS_MAX, which are copied
 * if they are elsewhere. */
void writer_add(struct trace_writer *writer, const struct quipu_trace_chunk *chunk,
                const void *contents, size_t size);

/* Adds a chunk whose CONTENTS stay where they are. When they are no longer needed any thread calls
 * RELEASE with OF, and may still hold the writer's lock: it must not call the writer. */
void writer_add_lent(struct trace_writer *writer, const struct quipu_trace_chunk *chunk,
                     const void *contents, size_t size, void (*release)(void *of), void *of);

/* Waits until all chunks that were added are in the file. */
void writer_finish(struct trace_writer *writer);

/* Whether something could not be written. Then nothing more is written. */
bool writer_failed(struct trace_writer *writer);

/* Completes the file. FLAGS are of enum quipu_trace_end. Returns an error message, or NULL. */
const char *writer_end(struct trace_writer *writer, unsigned flags);

#endif
