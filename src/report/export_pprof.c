/* export_pprof.c: writes paths of calls for 'go tool pprof' and other readers of its format.
 *
 * Source: profile.proto of github.com/google/pprof. The file is always compressed by gzip.
 *
 * A sample is a path of calls: locations from the innermost one outward, and two values: the
 * instructions of the innermost function itself, and the calls by this path. A location is the
 * call's line in its function. The innermost location, and one whose line is not known, is the
 * begin of the function. A mapping is a module. Addresses are those as linked.
 *
 * Invariant: the instructions of all samples add up to what all threads executed.
 *
 * Not perfect: functions that the compiler inlined are not separate. Counts of all processes and
 * threads are added up. */
#include "report/export.h"

#include "data/calls.h"
#include "report/protobuf.h"
#include "report/view.h"
#include "symbols/binary.h"

#include <string.h>
#include <zlib.h>

/* Numbers of fields, by message. */
enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum value_type_field {
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2
};

enum sample_field {
    SAMPLE_LOCATIONS = 1,
    SAMPLE_VALUES = 2
};

enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILENAME = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILENAMES = 8,
    MAPPING_HAS_LINE_NUMBERS = 9,
};

enum location_field {
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4
};

enum line_field {
    LINE_FUNCTION = 1,
    LINE_LINE = 2
};

enum function_field {
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5,
};

/* A function at one of its calls. All its bytes are compared in a lookup. */
struct location_key {
    uint32_t site; /* 0: the function's begin */
    uint32_t function;
};

struct pprof {
    struct arena arena;
    const struct profile *profile;
    const struct contexts *contexts;
    struct buffer out;
    struct buffer part, inner, values; /* nested messages */
    struct map texts, locations;
    uint32_t location_count;
    VECTOR(const char *) table; /* of texts */
};

static uint32_t number_text(struct pprof *pprof, const char *text) {
    uint32_t fresh = (uint32_t)pprof->table.count;
    uint32_t number = *map_add(&pprof->arena, &pprof->texts, text, strlen(text), fresh);
    if (number == fresh)
        vector_push(&pprof->arena, &pprof->table, text);
    return number;
}

static void add_value_type(struct pprof *pprof, enum profile_field field, const char *type,
                           const char *unit) {
    protobuf_number(&pprof->part, VALUE_TYPE_TYPE, number_text(pprof, type));
    protobuf_number(&pprof->part, VALUE_TYPE_UNIT, number_text(pprof, unit));
    protobuf_part(&pprof->out, field, &pprof->part);
}

/* ---- modules, functions ---- */

static uint32_t number_module(const struct pprof *pprof, const struct module *module) {
    for (size_t i = 0; i < pprof->profile->modules.count; i++)
        if (pprof->profile->modules.data[i] == module)
            return (uint32_t)i + 1;
    return 0;
}

static void add_mapping(struct pprof *pprof, const struct module *module) {
    struct buffer *part = &pprof->part;
    const struct binary *binary = module->binary;
    const struct segment *code = NULL;
    for (size_t i = 0; i < binary->segments.count && !code; i++)
        if (binary->segments.data[i].executable)
            code = &binary->segments.data[i];
    protobuf_number(part, MAPPING_ID, number_module(pprof, module));
    if (code) {
        protobuf_number(part, MAPPING_START, code->address);
        protobuf_number(part, MAPPING_LIMIT, code->address + code->size);
        protobuf_number(part, MAPPING_OFFSET, code->offset);
    }
    protobuf_number(part, MAPPING_FILENAME, number_text(pprof, module->path));
    protobuf_number(part, MAPPING_BUILD_ID,
                    number_text(pprof, build_id_text(&pprof->arena, module)));
    protobuf_number(part, MAPPING_HAS_FUNCTIONS, 1);
    protobuf_number(part, MAPPING_HAS_FILENAMES, binary->dwarf != NULL);
    protobuf_number(part, MAPPING_HAS_LINE_NUMBERS, binary->dwarf != NULL);
    protobuf_part(&pprof->out, PROFILE_MAPPING, part);
}

/* The id of a function is its number in `places` plus one, since id 0 means none. */
static void add_function(struct pprof *pprof, uint32_t number) {
    struct buffer *part = &pprof->part;
    const struct called_function *function = vector_at(&pprof->contexts->places.functions, number);
    const char *file = pprof->profile->files.data[function->file];
    protobuf_number(part, FUNCTION_ID, number + 1);
    protobuf_number(part, FUNCTION_NAME, number_text(pprof, function->demangled));
    protobuf_number(part, FUNCTION_SYSTEM_NAME, number_text(pprof, function->name));
    protobuf_number(part, FUNCTION_FILENAME, number_text(pprof, file));
    protobuf_number(part, FUNCTION_START_LINE, function->line);
    protobuf_part(&pprof->out, PROFILE_FUNCTION, part);
}

/* ---- samples ---- */

/* Adds the location if it is new. Returns its number. */
static uint32_t number_location(struct pprof *pprof, struct location_key wanted) {
    uint32_t fresh = pprof->location_count + 1;
    uint32_t number =
        *map_add_copy(&pprof->arena, &pprof->locations, &wanted, sizeof wanted, fresh);
    if (number != fresh)
        return number;
    pprof->location_count = fresh;
    const struct places *places = &pprof->contexts->places;
    const struct called_function *function = vector_at(&places->functions, wanted.function);
    const struct call_site *site = vector_at(&places->sites, wanted.site);
    protobuf_number(&pprof->inner, LINE_FUNCTION, wanted.function + 1);
    protobuf_number(&pprof->inner, LINE_LINE, wanted.site ? site->line : function->line);
    protobuf_number(&pprof->part, LOCATION_ID, number);
    protobuf_number(&pprof->part, LOCATION_MAPPING, number_module(pprof, function->module));
    protobuf_number(&pprof->part, LOCATION_ADDRESS, wanted.site ? site->call : function->address);
    protobuf_part(&pprof->part, LOCATION_LINE, &pprof->inner);
    protobuf_part(&pprof->out, PROFILE_LOCATION, &pprof->part);
    return number;
}

static void add_sample(struct pprof *pprof, const struct context *node) {
    const struct contexts *contexts = pprof->contexts;
    struct buffer path = {0}; /* number_location uses the others */
    uint32_t site = 0;
    for (const struct context *frame = node;; frame = vector_at(&contexts->nodes, frame->parent)) {
        bool here = vector_at(&contexts->places.sites, site)->function == frame->function;
        struct location_key key = {here ? site : 0, frame->function};
        buffer_uleb128(&path, number_location(pprof, key));
        site = frame->site;
        if (!frame->parent)
            break;
    }
    protobuf_part(&pprof->part, SAMPLE_LOCATIONS, &path);
    buffer_uleb128(&pprof->values, node->exclusive);
    buffer_uleb128(&pprof->values, node->calls);
    protobuf_part(&pprof->part, SAMPLE_VALUES, &pprof->values);
    protobuf_part(&pprof->out, PROFILE_SAMPLE, &pprof->part);
    buffer_release(&path);
}

/* ---- the file ---- */

static void add_rest(struct pprof *pprof, const char *version) {
    const struct profile *profile = pprof->profile;
    uint64_t start = UINT64_MAX;
    for (size_t i = 0; i < profile->processes.count; i++)
        if (profile->processes.data[i].start_time < start)
            start = profile->processes.data[i].start_time;
    for (size_t i = 0; i < profile->modules.count; i++)
        add_mapping(pprof, profile->modules.data[i]);
    for (size_t i = 0; i < pprof->contexts->places.functions.count; i++)
        add_function(pprof, (uint32_t)i);
    protobuf_number(&pprof->out, PROFILE_TIME_NANOS, start);
    add_value_type(pprof, PROFILE_PERIOD_TYPE, "instructions", "count");
    protobuf_number(&pprof->out, PROFILE_PERIOD, 1);
    protobuf_number(&pprof->out, PROFILE_COMMENT,
                    number_text(pprof, arena_print(&pprof->arena, "quipu %s", version)));
    protobuf_number(&pprof->out, PROFILE_DEFAULT_SAMPLE_TYPE, number_text(pprof, "instructions"));
    for (size_t i = 0; i < pprof->table.count; i++)
        protobuf_text(&pprof->out, PROFILE_STRING, pprof->table.data[i]);
}

static void write_compressed(FILE *out, const struct buffer *bytes) {
    enum {
        GZIP = 15 + 16, /* the largest window, and gzip's header without a time */
        MEMORY = 8
    };
    z_stream stream = {.zalloc = Z_NULL};
    unsigned char piece[1 << 14] = {0};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        die("out of memory while the profile was compressed");
    size_t taken = 0;
    int state = Z_OK;
    while (state != Z_STREAM_END) {
        size_t left = bytes->count - taken;
        if (!stream.avail_in) {
            stream.next_in = (unsigned char *)bytes->data + taken;
            stream.avail_in = left < 1u << 30 ? (uInt)left : 1u << 30;
            taken += stream.avail_in;
        }
        stream.next_out = piece;
        stream.avail_out = sizeof piece;
        state = deflate(&stream, taken == bytes->count ? Z_FINISH : Z_NO_FLUSH);
        fwrite(piece, 1, sizeof piece - stream.avail_out, out);
    }
    deflateEnd(&stream);
}

void export_pprof(const struct export_input *input, FILE *out) {
    struct pprof pprof = {.profile = input->profile, .contexts = input->contexts};
    number_text(&pprof, "");
    add_value_type(&pprof, PROFILE_SAMPLE_TYPE, "instructions", "count");
    add_value_type(&pprof, PROFILE_SAMPLE_TYPE, "calls", "count");
    for (size_t i = 1; i < pprof.contexts->nodes.count; i++) {
        const struct context *node = &pprof.contexts->nodes.data[i];
        if (node->exclusive || node->calls)
            add_sample(&pprof, node);
    }
    add_rest(&pprof, input->version);
    write_compressed(out, &pprof.out);
    buffer_release(&pprof.out);
    buffer_release(&pprof.part);
    buffer_release(&pprof.inner);
    buffer_release(&pprof.values);
    arena_release(&pprof.arena);
}
