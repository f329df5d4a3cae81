/* cache.c: a simulator on top of <quipu-trace.h>: a direct-mapped cache of data.
 *
 *     cc cache.c -o cache $(pkg-config --cflags --libs quipu-trace)
 *     ./cache quipu.trace
 *
 * Prints accesses and misses of each function, and of all. */
#include <inttypes.h>
#include <quipu-trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 64,
    LINES = 512, /* 32 KB */
    FUNCTIONS = 1000
};

struct function {
    const char *name;
    uint64_t accesses, misses;
};

static uint64_t cache[LINES]; /* 1 + the number of the line that is there; 0: none */
static struct function functions[FUNCTIONS];

static struct function *find(const char *name) {
    size_t i = 0;
    while (i < FUNCTIONS - 1 && functions[i].name && strcmp(functions[i].name, name) != 0)
        i++;
    functions[i].name = i < FUNCTIONS - 1 ? name : "(others)";
    return &functions[i];
}

/* Counts an access, once for each line that it touches. */
static void access_memory(struct function *function, const struct quipu_trace_reference *part) {
    uint64_t last = (part->address + part->size - 1) / LINE_BYTES;
    for (uint64_t line = part->address / LINE_BYTES; line <= last; line++) {
        function->accesses++;
        function->misses += cache[line % LINES] != line + 1;
        cache[line % LINES] = line + 1;
    }
}

static void run_thread(struct quipu_trace *trace, size_t number) {
    struct quipu_trace_reader *reader = quipu_trace_begin(trace, number);
    const struct quipu_trace_record *record;
    while (reader && (record = quipu_trace_next(reader)))
        for (size_t i = 0; i < record->reference_count; i++)
            access_memory(find(record->function), &record->references[i]);
    if (!reader || quipu_trace_fault(reader))
        fprintf(stderr, "cache: thread %zu: %s\n", number,
                reader ? quipu_trace_fault(reader) : "it cannot be read");
    quipu_trace_end(reader);
}

int main(int argc, char **argv) {
    char message[QUIPU_TRACE_MESSAGE_SIZE];
    struct quipu_trace *trace =
        quipu_trace_open(argc > 1 ? argv[1] : "quipu.trace", message, sizeof message);
    struct function all = {"all", 0, 0};
    if (!trace) {
        fprintf(stderr, "cache: %s\n", message);
        return 1;
    }
    for (size_t i = 0; i < quipu_trace_threads(trace); i++)
        run_thread(trace, i);
    for (struct function *f = functions; f->name; f++) {
        printf("%s %" PRIu64 " %" PRIu64 "\n", f->name, f->accesses, f->misses);
        all.accesses += f->accesses;
        all.misses += f->misses;
    }
    printf("%s %" PRIu64 " %" PRIu64 "\n", all.name, all.accesses, all.misses);
    quipu_trace_close(trace);
    return 0;
}
