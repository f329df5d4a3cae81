/* source.c: the formats that references are read from; see source.h. */
#include "cache/source.h"

#include "util/diag.h"
#include "util/near.h"

#include <inttypes.h>

static const struct source_format formats[] = {
    {"trace", open_trace_source, true},
    {"lackey", open_lackey_source, false},
};

static const char *format_name_at(size_t i) {
    return i < sizeof formats / sizeof *formats ? formats[i].name : NULL;
}

const struct source_format *choose_source_format(const char *name) {
    return &formats[choose_name("--from", "kind of file", name, format_name_at)];
}

struct reference_source *open_source(const struct source_format *format, char **words, int count,
                                     enum place_kind kind, const char *command) {
    if (!format)
        format = &formats[0];
    if (kind != PLACE_PROGRAM && !format->has_places)
        die("'--from=%s': such a file does not name functions, lines, objects and threads; leave out "
            "--by",
            format->name);
    if (count == 0 && !format->has_places)
        return format->open("-", kind);
    if (count != 1)
        die("name one trace; 'quipu %s --help' tells more", command);
    return format->open(words[0], kind);
}

void warn_of_unsure(const struct reference_source *source) {
    if (source->unsure)
        warn("'%s': %" PRIu64 " accesses are left out: the trace does not tell them exactly",
             source->path, source->unsure);
}

void warn_of_source_fault(const struct reference_source *source, uint32_t id, const char *fault) {
    warn("'%s': the trace of thread %u cannot be followed to its end: %s", source->path, id, fault);
}
