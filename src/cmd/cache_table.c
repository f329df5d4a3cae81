/* cache_table.c: the misses of simulated caches as a table; see cache_table.h. */
#include "cmd/cache_table.h"

#include "report/output.h"
#include "symbols/demangle.h"
#include "util/near.h"
#include "util/path.h"

#include <inttypes.h>

/* ---- columns ---- */

enum cache_column {
    COLUMN_KIND,
    COLUMN_REFERENCES, /* of the kind, or data */
    COLUMN_L1_MISSES,
    COLUMN_L1_RATE,
    COLUMN_L2_MISSES,
    COLUMN_LLC_MISSES,
    COLUMN_LLC_RATE,
    COLUMN_COHERENCE_MISSES,
    KIND_COLUMNS,
};

static const struct column kind_columns[KIND_COLUMNS] = {
    [COLUMN_KIND] = {"kind", "kind", CELL_TEXT, false, NULL},
    [COLUMN_REFERENCES] = {"references", "references", CELL_COUNT, false, NULL},
    [COLUMN_L1_MISSES] = {"l1_misses", "L1 misses", CELL_COUNT, false, NULL},
    [COLUMN_L1_RATE] = {"l1_rate", "%", CELL_SHARE, true, NULL},
    [COLUMN_L2_MISSES] = {"l2_misses", "L2 misses", CELL_COUNT, false, NULL},
    [COLUMN_LLC_MISSES] = {"llc_misses", "LLC misses", CELL_COUNT, false, NULL},
    [COLUMN_LLC_RATE] = {"llc_rate", "%", CELL_SHARE, true, NULL},
    [COLUMN_COHERENCE_MISSES] = {"coherence_misses", "coherence", CELL_COUNT, false, NULL},
};

enum place_column {
    COLUMN_INSTRUCTIONS,
    COLUMN_L1I_MISSES,
    COLUMN_READS,
    COLUMN_WRITES,
    COLUMN_L1D_READ_MISSES,
    COLUMN_L1D_WRITE_MISSES,
    COLUMN_L1D_MISSES,
    COLUMN_L1D_RATE,
    COLUMN_PLACE_L2_MISSES,
    COLUMN_LLC_FETCH_MISSES,
    COLUMN_LLC_READ_MISSES,
    COLUMN_LLC_WRITE_MISSES,
    COLUMN_PLACE_LLC_MISSES,
    COLUMN_PLACE_COHERENCE_MISSES,
    COLUMN_INVALIDATIONS,
    COLUMN_PROCESS,
    COLUMN_THREAD,
    COLUMN_FILE,
    COLUMN_LINE,
    COLUMN_MODULE,
    COLUMN_FUNCTION,
    COLUMN_PLACE,
    PLACE_COLUMNS,
    /* of objects */
    COLUMN_OBJECT_KIND = PLACE_COLUMNS,
    COLUMN_NAME,
    COLUMN_BLOCKS,
    COLUMN_BYTES,
    COLUMN_OBJECT,
    OBJECT_COLUMNS,
};

static const struct column place_columns[OBJECT_COLUMNS] = {
    [COLUMN_INSTRUCTIONS] = {"instructions", "instructions", CELL_COUNT, false, NULL},
    [COLUMN_L1I_MISSES] = {"l1i_misses", "L1I misses", CELL_COUNT, false, NULL},
    [COLUMN_READS] = {"reads", "reads", CELL_COUNT, false, NULL},
    [COLUMN_WRITES] = {"writes", "writes", CELL_COUNT, false, NULL},
    [COLUMN_L1D_READ_MISSES] = {"l1d_read_misses", "", CELL_COUNT, false, NULL},
    [COLUMN_L1D_WRITE_MISSES] = {"l1d_write_misses", "", CELL_COUNT, false, NULL},
    [COLUMN_L1D_MISSES] = {"l1d_misses", "L1D misses", CELL_COUNT, false, NULL},
    [COLUMN_L1D_RATE] = {"l1d_rate", "%", CELL_SHARE, true, NULL},
    [COLUMN_PLACE_L2_MISSES] = {"l2_misses", "L2 misses", CELL_COUNT, false, NULL},
    [COLUMN_LLC_FETCH_MISSES] = {"llc_fetch_misses", "", CELL_COUNT, false, NULL},
    [COLUMN_LLC_READ_MISSES] = {"llc_read_misses", "", CELL_COUNT, false, NULL},
    [COLUMN_LLC_WRITE_MISSES] = {"llc_write_misses", "", CELL_COUNT, false, NULL},
    [COLUMN_PLACE_LLC_MISSES] = {"llc_misses", "LLC misses", CELL_COUNT, false, NULL},
    [COLUMN_PLACE_COHERENCE_MISSES] = {"coherence_misses", "coherence", CELL_COUNT, false, NULL},
    [COLUMN_INVALIDATIONS] = {"invalidations", "invalidations", CELL_COUNT, false, NULL},
    [COLUMN_PROCESS] = {"process", "process", CELL_NUMBER, false, NULL},
    [COLUMN_THREAD] = {"thread", "thread", CELL_NUMBER, false, NULL},
    [COLUMN_FILE] = {"file", "file", CELL_TEXT, false, NULL},
    [COLUMN_LINE] = {"line", "line", CELL_NUMBER, false, NULL},
    [COLUMN_MODULE] = {"module", "module", CELL_TEXT, false, NULL},
    [COLUMN_FUNCTION] = {"function", "function", CELL_TEXT, false, NULL},
    [COLUMN_PLACE] = {"place", "line", CELL_TEXT, true, NULL},
    [COLUMN_OBJECT_KIND] = {"kind", "kind", CELL_TEXT, false, NULL},
    [COLUMN_NAME] = {"name", "name", CELL_TEXT, false, NULL},
    [COLUMN_BLOCKS] = {"blocks", "blocks", CELL_COUNT, false, NULL},
    [COLUMN_BYTES] = {"bytes", "bytes", CELL_COUNT, false, NULL},
    [COLUMN_OBJECT] = {"object", "object", CELL_TEXT, false, NULL},
};

static const uint8_t kind_text[] = {COLUMN_REFERENCES,       COLUMN_L1_MISSES,  COLUMN_L1_RATE,
                                    COLUMN_L2_MISSES,        COLUMN_LLC_MISSES, COLUMN_LLC_RATE,
                                    COLUMN_COHERENCE_MISSES, COLUMN_KIND};
#define PLACE_TEXT                                                                                 \
    COLUMN_L1D_MISSES, COLUMN_L1D_RATE, COLUMN_PLACE_COHERENCE_MISSES, COLUMN_INVALIDATIONS,       \
        COLUMN_PLACE_LLC_MISSES, COLUMN_READS, COLUMN_WRITES, COLUMN_L1I_MISSES
static const uint8_t function_text[] = {PLACE_TEXT, COLUMN_FUNCTION};
static const uint8_t line_text[] = {PLACE_TEXT, COLUMN_PLACE};
static const uint8_t thread_text[] = {PLACE_TEXT, COLUMN_PROCESS, COLUMN_THREAD};

static const uint8_t object_text[] = {COLUMN_L1D_MISSES, COLUMN_L1D_RATE, COLUMN_PLACE_LLC_MISSES,
                                      COLUMN_READS,      COLUMN_WRITES,   COLUMN_BLOCKS,
                                      COLUMN_BYTES,      COLUMN_OBJECT};

static const struct cache_view views[] = {
    {"kind",
     PLACE_PROGRAM,
     {"kinds", kind_columns, KIND_COLUMNS, kind_text, sizeof kind_text, NULL}},
    {"function",
     PLACE_FUNCTION,
     {"functions", place_columns, PLACE_COLUMNS, function_text, sizeof function_text,
      "l1d_misses"}},
    {"line",
     PLACE_LINE,
     {"lines", place_columns, PLACE_COLUMNS, line_text, sizeof line_text, "l1d_misses"}},
    {"object",
     PLACE_OBJECT,
     {"objects", place_columns, OBJECT_COLUMNS, object_text, sizeof object_text, "l1d_misses"}},
    {"thread",
     PLACE_THREAD,
     {"threads", place_columns, PLACE_COLUMNS, thread_text, sizeof thread_text, NULL}},
};

/* Writes those text columns of SHAPE that one processor has to TEXT, and returns the shape with
 * them. */
static struct table_shape without_coherence(struct table_shape shape, uint8_t text[PLACE_COLUMNS]) {
    size_t count = 0;
    for (size_t i = 0; i < shape.text_count; i++) {
        const struct column *column = &shape.columns[shape.text[i]];
        if (column != &kind_columns[COLUMN_COHERENCE_MISSES] &&
            column != &place_columns[COLUMN_PLACE_COHERENCE_MISSES] &&
            column != &place_columns[COLUMN_INVALIDATIONS])
            text[count++] = shape.text[i];
    }
    shape.text = text;
    shape.text_count = count;
    return shape;
}

static const char *view_name_at(size_t i) {
    return i < sizeof views / sizeof *views ? views[i].name : NULL;
}

const struct cache_view *choose_cache_view(const char *name) {
    return &views[choose_name("--by", "view", name, view_name_at)];
}

const struct cache_view *cache_view_of(enum place_kind kind) {
    size_t number = 0;
    while (views[number].place != kind)
        number++;
    return &views[number];
}

/* ---- rows ---- */

static uint64_t sum_of(const uint64_t *numbers, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i];
    return sum;
}

static struct cell share_cell(uint64_t part, uint64_t whole) {
    return cell_share(whole ? (double)part / (double)whole : 0);
}

static void add_kind(struct table *table, const struct cache_options *options, const char *name,
                     uint64_t references, const uint64_t *misses, uint64_t coherence_misses) {
    const struct hierarchy_shape *shape = &options->shape;
    struct row *row = table_add(table);
    row->executed = references != 0;
    row->cells[COLUMN_KIND] = cell_text(name);
    row->cells[COLUMN_REFERENCES] = cell_count(references);
    row->cells[COLUMN_L1_MISSES] = cell_count(misses[LEVEL_FIRST]);
    row->cells[COLUMN_L1_RATE] = share_cell(misses[LEVEL_FIRST], references);
    row->cells[COLUMN_L2_MISSES] = cell_known(misses[LEVEL_SECOND], shape->second.size);
    row->cells[COLUMN_COHERENCE_MISSES] = cell_known(coherence_misses, options->processors);
    if (!shape->last.size)
        return;
    row->cells[COLUMN_LLC_MISSES] = cell_count(misses[LEVEL_LAST]);
    row->cells[COLUMN_LLC_RATE] = share_cell(misses[LEVEL_LAST], references);
}

/* Adds a row for each kind of reference, of all places together, and one for their sum. */
static void add_kinds(struct table *table, const struct cache_options *options,
                      const struct cache_counts *counts, size_t places) {
    static const char *const names[REFERENCE_KINDS] = {"fetch", "read", "write"};
    struct cache_counts sums = {0};
    uint64_t all[LEVELS] = {0};
    for (size_t place = 0; place < places; place++)
        for (int kind = 0; kind < REFERENCE_KINDS; kind++) {
            sums.references[kind] += counts[place].references[kind];
            sums.coherence_misses[kind] += counts[place].coherence_misses[kind];
            for (int level = 0; level < LEVELS; level++)
                sums.misses[kind][level] += counts[place].misses[kind][level];
        }
    for (int kind = 0; kind < REFERENCE_KINDS; kind++) {
        add_kind(table, options, names[kind], sums.references[kind], sums.misses[kind],
                 sums.coherence_misses[kind]);
        for (int level = 0; level < LEVELS; level++)
            all[level] += sums.misses[kind][level];
    }
    add_kind(table, options, "all", sum_of(sums.references, REFERENCE_KINDS), all,
             sum_of(sums.coherence_misses, REFERENCE_KINDS));
}

static void describe_place(struct row *row, struct arena *arena,
                           const struct reference_place *place) {
    row->cells[COLUMN_PROCESS] = cell_known(place->process, place->process);
    row->cells[COLUMN_THREAD] = cell_known(place->thread, place->thread);
    row->cells[COLUMN_FILE] = cell_text(place->file);
    row->cells[COLUMN_LINE] = cell_known(place->line, place->line);
    row->cells[COLUMN_MODULE] = cell_text(place->module);
    const char *function = place->function ? demangle(arena, place->function) : NULL;
    row->cells[COLUMN_FUNCTION] = cell_text(function);
    row->cells[COLUMN_PLACE] =
        cell_text(place->file ? arena_print(arena, "%s:%u", place->file, place->line) : function);
}

/* What the kinds of objects are called, in columns and in front of their names. */
static const struct object_words {
    const char *kind, *words;
} object_words[] = {
    [OBJECT_NONE] = {NULL, NULL},
    [OBJECT_CODE] = {"code", "instructions of "},
    [OBJECT_VARIABLE] = {"variable", ""},
    [OBJECT_THREAD_LOCAL] = {"thread-local", "thread-local "},
    [OBJECT_SECTION] = {"section", "rest of section "},
    [OBJECT_HEAP] = {"heap", "heap block of "},
    [OBJECT_MAPPING] = {"mapping", "mapping of "},
    [OBJECT_STACK] = {"stack", "stack of "},
    [OBJECT_CONTROL_BLOCK] = {"control-block", "thread control block"},
    [OBJECT_OTHER] = {"other", "other memory"},
};

/* Returns what stands behind the kind's words. */
static const char *object_name(struct arena *arena, const struct reference_place *place) {
    const char *function =
        place->function ? short_name(arena, demangle(arena, place->function)) : "";
    if (place->object == OBJECT_CODE)
        return last_part(place->module);
    if (place->object == OBJECT_SECTION)
        return arena_print(arena, "%s of %s", place->name, last_part(place->module));
    if (place->name)
        return place->name;
    return place->line
               ? arena_print(arena, "%s:%u (%s)", last_part(place->file), place->line, function)
               : function;
}

static void describe_object(struct row *row, struct arena *arena,
                            const struct reference_place *place) {
    const struct object_words *words = &object_words[place->object];
    row->cells[COLUMN_OBJECT_KIND] = cell_text(words->kind);
    row->cells[COLUMN_NAME] = cell_text(place->name);
    row->cells[COLUMN_BLOCKS] = cell_known(place->blocks, place->blocks);
    row->cells[COLUMN_BYTES] = cell_known(place->bytes, place->bytes);
    row->cells[COLUMN_OBJECT] =
        cell_text(arena_print(arena, "%s%s", words->words, object_name(arena, place)));
}

static void add_place(struct table *table, const struct cache_options *options,
                      const struct reference_place *place, const struct cache_counts *counts) {
    const struct hierarchy_shape *shape = &options->shape;
    const uint64_t *references = counts->references;
    const uint64_t(*misses)[LEVELS] = counts->misses;
    uint64_t data = references[REFERENCE_READ] + references[REFERENCE_WRITE];
    uint64_t data_misses =
        misses[REFERENCE_READ][LEVEL_FIRST] + misses[REFERENCE_WRITE][LEVEL_FIRST];
    struct row *row = table_add(table);
    row->executed = true;
    describe_place(row, table->arena, place);
    if (place->object)
        describe_object(row, table->arena, place);
    row->cells[COLUMN_INSTRUCTIONS] = cell_count(references[REFERENCE_FETCH]);
    row->cells[COLUMN_L1I_MISSES] = cell_count(misses[REFERENCE_FETCH][LEVEL_FIRST]);
    row->cells[COLUMN_READS] = cell_count(references[REFERENCE_READ]);
    row->cells[COLUMN_WRITES] = cell_count(references[REFERENCE_WRITE]);
    row->cells[COLUMN_L1D_READ_MISSES] = cell_count(misses[REFERENCE_READ][LEVEL_FIRST]);
    row->cells[COLUMN_L1D_WRITE_MISSES] = cell_count(misses[REFERENCE_WRITE][LEVEL_FIRST]);
    row->cells[COLUMN_L1D_MISSES] = cell_count(data_misses);
    row->cells[COLUMN_L1D_RATE] = share_cell(data_misses, data);
    uint64_t second = 0, last = 0;
    for (int kind = 0; kind < REFERENCE_KINDS; kind++) {
        second += misses[kind][LEVEL_SECOND];
        last += misses[kind][LEVEL_LAST];
        row->cells[COLUMN_LLC_FETCH_MISSES + kind] =
            cell_known(misses[kind][LEVEL_LAST], shape->last.size);
    }
    row->cells[COLUMN_PLACE_L2_MISSES] = cell_known(second, shape->second.size);
    row->cells[COLUMN_PLACE_LLC_MISSES] = cell_known(last, shape->last.size);
    row->cells[COLUMN_PLACE_COHERENCE_MISSES] =
        cell_known(sum_of(counts->coherence_misses, REFERENCE_KINDS), options->processors);
    row->cells[COLUMN_INVALIDATIONS] = cell_known(counts->invalidations, options->processors);
}

static const char *shape_text(struct arena *arena, const struct cache_shape *shape) {
    static const char letters[] = {'\0', 'K', 'M', 'G'};
    uint64_t size = shape->size;
    size_t unit = 0;
    if (!size)
        return "none";
    for (; size % 1024 == 0 && unit + 1 < sizeof letters; size /= 1024)
        unit++;
    const char *text = arena_print(arena, "%" PRIu64 "%.1s,%" PRIu64 ",%u", size, &letters[unit],
                                   shape->ways, shape->line);
    return text;
}

void write_cache_table(const struct cache_options *options, const struct reference_source *source,
                       const struct cache_counts *counts) {
    struct arena arena = {0};
    const struct hierarchy_shape *shape = &options->shape;
    uint8_t text[PLACE_COLUMNS];
    struct table_shape columns = options->view->shape;
    if (!options->processors)
        columns = without_coherence(columns, text);
    struct table table = {.arena = &arena, .shape = &columns};
    if (options->view->place == PLACE_PROGRAM)
        add_kinds(&table, options, counts, source->places.count);
    for (size_t i = 0; i < source->places.count && options->view->place != PLACE_PROGRAM; i++)
        add_place(&table, options, &source->places.data[i], &counts[i]);
    if (options->sort)
        table_sort(&table, options->sort);
    else if (table.shape->sort)
        table_sort(&table, table.shape->sort);
    table.subject = source->path;
    table.heading = arena_print(
        &arena, ": L1I %s, L1D %s, L2 %s, LLC %s, %s", shape_text(&arena, &shape->instruction),
        shape_text(&arena, &shape->data), shape_text(&arena, &shape->second),
        shape_text(&arena, &shape->last), inclusion_name(shape->inclusion));
    if (options->processors)
        table.heading = arena_print(&arena, "%s, %u processor%s", table.heading,
                                    options->processors, options->processors == 1 ? "" : "s");
    FILE *out = begin_output(options->output);
    struct table_style style = {.out = out, .human = options->human, .width = table_width(out)};
    table_write(&table, options->format, &style, options->limit);
    end_output(out, options->output);
    arena_release(&arena);
}
