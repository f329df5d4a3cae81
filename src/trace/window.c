/* window.c: which of a run a trace keeps; see window.h.
 *
 * A chunk is needed for a function if it has a sync of the function, or if the function was active
 * where the chunk begins: the stack there has an address to which it calls. A chunk that only looks
 * so is kept, too: readers find what is in the window by the path itself. A chunk is needed for
 * moments if its thread's counter reaches from one to the other. So each chunk is judged alone, and
 * they may come in any order. */
#include "trace/window.h"

#include "format/notes.h"
#include "format/trace.h"
#include "symbols/binary.h"
#include "symbols/event_tables.h"
#include "symbols/moment_name.h"
#include "trace/point.h"
#include "trace/trace.h"
#include "util/vector.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* so many of records are kept for each of the first instructions, while programs run; at the
     * end trim.c leaves out what is behind them. Gathers have 136 bytes each, but are not alone. */
    BYTES_AN_INSTRUCTION = 64
};

bool window_is_set(const struct trace_window *window) {
    return window->function || window->from || window->to || window->first || window->of;
}

const char *window_text(struct arena *arena, const struct trace_window *window) {
    return arena_print(
        arena, "first %" PRIu64 "\nkeep %" PRIu32 "\nof %" PRIu32 "\nfunction %s\nfrom %s\nto %s\n",
        window->first, window->keep, window->of, window->function ? window->function : "",
        window->from ? window->from : "", window->to ? window->to : "");
}

/* Returns what stands behind NAME and a space at *TEXT, up to the line's end, and goes on behind
 * that; or NULL. */
static char *take_line(char **text, const char *name) {
    size_t length = strlen(name);
    char *end = strchr(*text, '\n');
    if (!end || strncmp(*text, name, length) != 0 || (*text)[length] != ' ')
        return NULL;
    char *value = *text + length + 1;
    *end = '\0';
    *text = end + 1;
    return value;
}

/* Reads a line with a number, at most MOST. */
static bool take_number(char **text, const char *name, uint64_t most, uint64_t *number) {
    char *value = take_line(text, name), *end = NULL;
    if (!value)
        return false;
    *number = strtoull(value, &end, 10);
    return end != value && !*end && *number <= most;
}

bool window_read(struct trace_window *window, char *text) {
    uint64_t keep, of;
    *window = (struct trace_window){0};
    if (!take_number(&text, "first", UINT64_MAX, &window->first) ||
        !take_number(&text, "keep", UINT32_MAX, &keep) ||
        !take_number(&text, "of", UINT32_MAX, &of))
        return false;
    const char *function = take_line(&text, "function");
    const char *from = function ? take_line(&text, "from") : NULL;
    const char *to = from ? take_line(&text, "to") : NULL;
    window->keep = (uint32_t)keep;
    window->of = (uint32_t)of;
    window->function = function && *function ? function : NULL;
    window->from = from && *from ? from : NULL;
    window->to = to && *to ? to : NULL;
    return function && from && to;
}

/* ---- the chunks that are needed ---- */

/* The window's function in a process. */
struct window_function {
    uint32_t process;
    const struct traced_function *function;
    uint64_t bias;
    VECTOR(uint64_t) returns; /* addresses behind its calls, sorted */
    VECTOR(uint64_t) syncs;   /* what its syncs have of their address, sorted */
};

/* A module in a process that has one of the window's moments. */
struct window_module {
    uint32_t process;
    uint64_t bias;
    uint64_t above; /* the cells of a thread may lack so many ticks */
    struct moment_name name;
    bool ends; /* the moment is the window's end, not its begin */
};

struct window_chunks {
    struct arena *arena;
    struct trace_window window;
    VECTOR(struct window_function) functions;
    VECTOR(struct window_module) modules;
};

struct window_chunks *window_begin(struct arena *arena, const struct trace_window *window) {
    struct window_chunks *chunks = ARENA_NEW(arena, struct window_chunks);
    chunks->arena = arena;
    chunks->window = *window;
    return chunks;
}

static int compare_numbers(const void *a, const void *b) {
    uint64_t first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return (first > second) - (first < second);
}

static void add_places(struct arena *arena, struct window_function *found,
                       struct traced_function *function) {
    for (uint32_t i = 0; i < function->piece_count; i++) {
        struct piece *piece = &function->pieces[i];
        decode_piece(arena, function, piece);
        const struct traced_instruction *last =
            piece->count ? &piece->instructions[piece->count - 1] : NULL;
        if (last && is_call_class(last->decoded.class))
            vector_push(arena, &found->returns, last->address + last->decoded.size + found->bias);
    }
    for (uint32_t i = 0; i < function->record_count; i++)
        if (function->records[i].sync)
            vector_push(arena, &found->syncs,
                        (uint32_t)(function->records[i].address + found->bias));
    if (found->returns.count)
        qsort(found->returns.data, found->returns.count, sizeof(uint64_t), compare_numbers);
    if (found->syncs.count)
        qsort(found->syncs.data, found->syncs.count, sizeof(uint64_t), compare_numbers);
}

static bool has_number(const uint64_t *numbers, size_t count, uint64_t number) {
    return count && bsearch(&number, numbers, count, sizeof number, compare_numbers);
}

/* Adds MODULE if it has the moment TEXT, which may be NULL. */
static void add_moment(struct window_chunks *chunks, const struct traced_module *module,
                       struct window_module added, const char *text) {
    address_list places = {0};
    if (!text || read_moment(chunks->arena, text, &added.name) ||
        find_places(chunks->arena, module->binary, &added.name, &places))
        return;
    added.above = most_ticks_above(module->binary);
    vector_push(chunks->arena, &chunks->modules, added);
}

void window_add_module(struct window_chunks *chunks, uint32_t process, const char *path,
                       uint64_t bias) {
    struct arena *arena = chunks->arena;
    const struct trace_window *window = &chunks->window;
    struct traced_module *module = ARENA_NEW(arena, struct traced_module);
    module->path = path;
    if (!(window->function || window->from || window->to) ||
        binary_open(arena, path, &module->binary) || read_trace_notes(arena, module))
        return;
    for (size_t i = 0; i < module->functions.count; i++) {
        struct traced_function *function = &module->functions.data[i];
        struct window_function found = {.process = process, .function = function, .bias = bias};
        if (!window->function || strcmp(function->name, chunks->window.function) != 0)
            continue;
        add_places(arena, &found, function);
        vector_push(arena, &chunks->functions, found);
    }
    struct window_module added = {.process = process, .bias = bias};
    if (module->ticks)
        add_moment(chunks, module, added, window->from);
    added.ends = true;
    if (module->ticks)
        add_moment(chunks, module, added, window->to);
}

/* Whether RECORDS, of SIZE bytes, may have a sync of the function. */
static bool has_sync(const struct window_function *function, const uint8_t *records, size_t size) {
    for (size_t at = 0; at + QUIPU_TRACE_SYNC_SIZE <= size; at++) {
        uint32_t low;
        bool repeated = quipu_trace_is_repeated_sync(records[at]);
        memcpy(&low,
               records + at + (repeated ? QUIPU_TRACE_REPEATED_SYNC_CODE : QUIPU_TRACE_SYNC_CODE),
               sizeof low);
        if ((repeated || quipu_trace_is_sync(records[at])) &&
            has_number(function->syncs.data, function->syncs.count, low))
            return true;
    }
    return false;
}

/* Whether the function may be active where the chunk begins, of which START is the start, with the
 * stack behind it. */
static bool is_active(const struct window_function *function, const uint8_t *contents,
                      uint32_t size) {
    struct quipu_trace_start start;
    bool done;
    if (size < sizeof start)
        return false;
    memcpy(&start, contents, sizeof start);
    if (size >= QUIPU_TRACE_STACK_MOST || /* the stack may be deeper */
        record_of_stub(function->function, start.address - function->bias, &done) != NONE_OF)
        return true;
    /* the record's code goes around the red zone, which has old contents, before it calls */
    for (uint32_t at = sizeof start + RED_ZONE; at + sizeof(uint64_t) <= size;
         at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, contents + at, sizeof word);
        if (has_number(function->returns.data, function->returns.count, word))
            return true;
    }
    return false;
}

static bool runs_function(const struct window_chunks *chunks, const struct quipu_trace_chunk *chunk,
                          const uint8_t *contents, size_t size) {
    uint32_t counters = quipu_trace_counters_size(chunk);
    contents += counters <= size ? counters : size;
    size -= counters <= size ? counters : size;
    uint32_t start = chunk->start <= size ? chunk->start : (uint32_t)size;
    for (size_t i = 0; i < chunks->functions.count; i++)
        if (chunks->functions.data[i].process == chunk->process &&
            (is_active(&chunks->functions.data[i], contents, start) ||
             has_sync(&chunks->functions.data[i], contents + start, size - start)))
            return true;
    return false;
}

/* Whether the chunk may have something of its thread from the moment of MODULE on, or up to it. */
static bool reaches(const struct window_module *module, const struct quipu_trace_chunk *chunk,
                    const uint8_t *contents, size_t size) {
    struct quipu_trace_counter counter;
    if (module->process != chunk->process)
        return false;
    for (size_t i = 0; i < chunk->counters && (i + 1) * sizeof counter <= size; i++) {
        memcpy(&counter, contents + i * sizeof counter, sizeof counter);
        if (counter.bias != module->bias ||
            (counter.thread ? counter.thread : 1) != module->name.thread)
            continue;
        return module->ends ? counter.begin <= module->name.ticks + module->above
                            : !counter.end || counter.end + module->above >= module->name.ticks;
    }
    return false;
}

/* Whether the chunk may have something between the window's moments. */
static bool is_between(const struct window_chunks *chunks, const struct quipu_trace_chunk *chunk,
                       const uint8_t *contents, size_t size) {
    bool begun = !chunks->window.from, ahead = !chunks->window.to;
    for (size_t i = 0; i < chunks->modules.count; i++) {
        const struct window_module *module = &chunks->modules.data[i];
        bool *holds = module->ends ? &ahead : &begun;
        *holds |= reaches(module, chunk, contents, size);
    }
    return begun && ahead;
}

bool window_takes(const struct window_chunks *chunks, const struct quipu_trace_chunk *chunk,
                  const uint8_t *contents, size_t size) {
    const struct trace_window *window = &chunks->window;
    if ((window->from || window->to) && !is_between(chunks, chunk, contents, size))
        return false;
    if (window->function)
        return runs_function(chunks, chunk, contents, size);
    if (window->of)
        return chunk->number % window->of < window->keep;
    return !window->first || window->from || /* from there on, the number tells nothing */
           (uint64_t)chunk->number * QUIPU_TRACE_FULL / BYTES_AN_INSTRUCTION < window->first;
}
