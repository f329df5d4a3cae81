/* sink.c: where chunks of a trace go; see sink.h. */
#include "trace/sink.h"

#include "format/trace.h"
#include "trace/writer.h"

#include <string.h>

struct trace_sink {
    struct arena *arena;
    struct trace_writer *writer;
    struct window_chunks *window;
    unsigned jobs;
    bool has_records; /* of a thread; then the writer has threads */
};

struct trace_sink *sink_begin(struct arena *arena, const char *output, int level, unsigned jobs,
                              const struct trace_window *window) {
    struct trace_sink *sink = ARENA_NEW(arena, struct trace_sink);
    *sink = (struct trace_sink){.arena = arena,
                                .writer = writer_begin(arena, output, level),
                                .window = window_begin(arena, window),
                                .jobs = jobs};
    if (window_is_set(window)) {
        const char *text = window_text(arena, window);
        struct quipu_trace_chunk chunk = {.kind = QUIPU_TRACE_WINDOW};
        writer_add(sink->writer, &chunk, text, strlen(text));
    }
    return sink;
}

struct trace_writer *sink_writer(const struct trace_sink *sink) {
    return sink->writer;
}

bool sink_has_records(const struct trace_sink *sink) {
    return sink->has_records;
}

/* Returns the size of the contents without the zeros at their end. */
static size_t size_without_zeros(const uint8_t *contents, size_t size) {
    while (size > 0 && contents[size - 1] == 0)
        size--;
    return size;
}

/* Whether the chunk, with CONTENTS of SIZE bytes, is to be stored. */
static bool wants(struct trace_sink *sink, const struct quipu_trace_chunk *chunk,
                  const uint8_t *contents, size_t size) {
    if (chunk->kind == QUIPU_TRACE_MODULE)
        window_add_module(sink->window, chunk->process,
                          arena_copy(sink->arena, (const char *)contents, size), chunk->begin);
    if (chunk->kind != QUIPU_TRACE_RECORDS)
        return true;
    if (!sink->has_records)
        writer_start_threads(sink->writer, sink->jobs);
    sink->has_records = true;
    return size && window_takes(sink->window, chunk, contents, size);
}

void sink_add(struct trace_sink *sink, const struct quipu_trace_chunk *chunk,
              const uint8_t *contents, size_t size) {
    size = size_without_zeros(contents, size);
    if (wants(sink, chunk, contents, size))
        writer_add(sink->writer, chunk, contents, size);
}

void sink_add_lent(struct trace_sink *sink, const struct quipu_trace_chunk *chunk,
                   const uint8_t *contents, size_t size, void (*release)(void *of), void *of) {
    size = size_without_zeros(contents, size);
    if (wants(sink, chunk, contents, size))
        writer_add_lent(sink->writer, chunk, contents, size, release, of);
    else
        release(of);
}
