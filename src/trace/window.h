/* window.h: which of a run a trace keeps ('quipu trace' --function, --first, --every).
 *
 * The program records all of its run; the collector keeps the chunks that a window needs. Readers
 * leave out what is not in it, to the instruction. So the trace file has the window, as text. */
#ifndef QUIPU_TRACE_WINDOW_H
#define QUIPU_TRACE_WINDOW_H

#include "util/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct quipu_trace_chunk;

/* What is kept. Zeros: everything. */
struct trace_window {
    const char *function; /* only what runs from a call of it to its return; NULL: everything */
    const char *from,
        *to;        /* only between these moments of a thread; NULL: from the begin, to the end */
    uint64_t first; /* of that, so many instructions of each thread; 0: all */
    uint32_t keep, of; /* of each thread's chunks, the first `keep` of each `of`; 0: all */
};

/* Whether the window leaves something out. */
bool window_is_set(const struct trace_window *window);

/* Returns the window as text, of lines, in ARENA. */
const char *window_text(struct arena *arena, const struct trace_window *window);

/* Reads such TEXT. Returns false if it is none. What WINDOW points to is in TEXT, which is changed.
 */
bool window_read(struct trace_window *window, char *text);

/* The chunks that a window needs. */
struct window_chunks;

struct window_chunks *window_begin(struct arena *arena, const struct trace_window *window);

/* Tells of a module: PATH, which must live as long as CHUNKS, and its load BIAS in process number
 * PROCESS. */
void window_add_module(struct window_chunks *chunks, uint32_t process, const char *path,
                       uint64_t bias);

/* Whether the window needs CHUNK, which has the CONTENTS of SIZE bytes. */
bool window_takes(const struct window_chunks *chunks, const struct quipu_trace_chunk *chunk,
                  const uint8_t *contents, size_t size);

#endif
