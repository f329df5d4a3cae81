/* reuse_table.c: the results of 'quipu reuse' as tables; in text with a bar in each row. */
#include "cmd/reuse.h"

#include "report/output.h"
#include "util/near.h"

#include <inttypes.h>
#include <string.h>

enum {
    BAR_MAX = 40 /* characters */
};

/* ---- views ---- */

struct reuse_view {
    const char *name;
    struct table_shape shape;
    void (*add_rows)(struct table *table, const struct reuse *reuse);
};

enum size_column {
    SIZE_BYTES,
    SIZE_LINES,
    SIZE_HITS,
    SIZE_MISSES,
    SIZE_RATE,
    SIZE_BAR,
    SIZE_COLUMNS,
};

static const struct column size_columns[SIZE_COLUMNS] = {
    [SIZE_BYTES] = {"bytes", "cache size", CELL_COUNT, false, NULL},
    [SIZE_LINES] = {"lines", "lines", CELL_COUNT, false, NULL},
    [SIZE_HITS] = {"further_hits", "further hits", CELL_COUNT, false, NULL},
    [SIZE_MISSES] = {"misses", "misses", CELL_COUNT, false, NULL},
    [SIZE_RATE] = {"miss_rate", "%", CELL_SHARE, false, NULL},
    [SIZE_BAR] = {"bar", "miss rate", CELL_TEXT, true, NULL},
};
static const uint8_t size_text[] = {SIZE_BYTES,  SIZE_LINES, SIZE_HITS,
                                    SIZE_MISSES, SIZE_RATE,  SIZE_BAR};

enum distance_column {
    DISTANCE_DISTANCE,
    DISTANCE_REFERENCES,
    DISTANCE_LINES,
    DISTANCE_MISSES,
    DISTANCE_BAR,
    DISTANCE_COLUMNS,
};

static const struct column distance_columns[DISTANCE_COLUMNS] = {
    [DISTANCE_DISTANCE] = {"distance", "distance", CELL_COUNT, false, NULL},
    [DISTANCE_REFERENCES] = {"references", "references", CELL_COUNT, false, NULL},
    [DISTANCE_LINES] = {"lines", "lines", CELL_COUNT, false, NULL},
    [DISTANCE_MISSES] = {"misses", "misses", CELL_COUNT, false, NULL},
    [DISTANCE_BAR] = {"bar", "references", CELL_TEXT, true, NULL},
};
static const uint8_t distance_text[] = {DISTANCE_DISTANCE, DISTANCE_REFERENCES, DISTANCE_LINES,
                                        DISTANCE_MISSES, DISTANCE_BAR};

enum window_column {
    WINDOW_FIRST,
    WINDOW_REFERENCES,
    WINDOW_LINES,
    WINDOW_BYTES,
    WINDOW_BAR,
    WINDOW_COLUMNS,
};

static const struct column window_columns[WINDOW_COLUMNS] = {
    [WINDOW_FIRST] = {"first_reference", "from reference", CELL_COUNT, false, NULL},
    [WINDOW_REFERENCES] = {"references", "references", CELL_COUNT, false, NULL},
    [WINDOW_LINES] = {"lines", "lines", CELL_COUNT, false, NULL},
    [WINDOW_BYTES] = {"bytes", "bytes", CELL_COUNT, false, NULL},
    [WINDOW_BAR] = {"bar", "lines", CELL_TEXT, true, NULL},
};
static const uint8_t window_text[] = {WINDOW_FIRST, WINDOW_REFERENCES, WINDOW_LINES, WINDOW_BYTES,
                                      WINDOW_BAR};

/* Returns the cell of a bar for PART of WHOLE. */
static struct cell bar_cell(struct table *table, uint64_t part, uint64_t whole) {
    char bar[BAR_MAX + 1];
    size_t length = whole ? (size_t)((double)part / (double)whole * BAR_MAX + 0.5) : 0;
    if (!length && part)
        return cell_text(".");
    memset(bar, '#', length);
    return cell_text(arena_copy(table->arena, bar, length));
}

static struct row *add_row(struct table *table) {
    struct row *row = table_add(table);
    row->executed = true;
    return row;
}

/* Adds caches of 1, 2, 4, ... lines, until only first uses are missed. */
static void add_sizes(struct table *table, const struct reuse *reuse) {
    uint64_t more = reuse->references, misses;
    uint64_t lines = 1;
    do {
        misses = reuse_misses(reuse, lines);
        struct row *row = add_row(table);
        row->cells[SIZE_BYTES] = cell_count(lines << reuse->line_bits);
        row->cells[SIZE_LINES] = cell_count(lines);
        row->cells[SIZE_HITS] = cell_count(more - misses);
        row->cells[SIZE_MISSES] = cell_count(misses);
        if (reuse->references)
            row->cells[SIZE_RATE] = cell_share((double)misses / (double)reuse->references);
        row->cells[SIZE_BAR] = bar_cell(table, misses, reuse->references);
        more = misses;
        lines *= 2;
    } while (misses > reuse->first_uses);
}

/* Adds the distances that occur, and then first uses, which have none. */
static void add_distances(struct table *table, const struct reuse *reuse) {
    uint64_t misses = reuse->references;
    for (uint64_t distance = 0; distance < reuse->distances.count; distance++) {
        uint64_t references = reuse->distances.data[distance];
        if (!references)
            continue;
        misses -= references;
        struct row *row = add_row(table);
        row->cells[DISTANCE_DISTANCE] = cell_count(distance);
        row->cells[DISTANCE_REFERENCES] = cell_count(references);
        row->cells[DISTANCE_LINES] = cell_count(distance + 1);
        row->cells[DISTANCE_MISSES] = cell_count(misses);
        row->cells[DISTANCE_BAR] = bar_cell(table, references, reuse->references);
    }
    struct row *row = add_row(table);
    row->cells[DISTANCE_REFERENCES] = cell_count(reuse->first_uses);
    row->cells[DISTANCE_BAR] = bar_cell(table, reuse->first_uses, reuse->references);
}

static void add_windows(struct table *table, const struct reuse *reuse) {
    uint64_t most = 0;
    for (size_t i = 0; i < reuse->working_set.count; i++)
        if (reuse->working_set.data[i] > most)
            most = reuse->working_set.data[i];
    for (size_t i = 0; i < reuse->working_set.count; i++) {
        uint64_t lines = reuse->working_set.data[i];
        uint64_t first = i * reuse->window, left = reuse->references - first;
        struct row *row = add_row(table);
        row->cells[WINDOW_FIRST] = cell_count(first);
        row->cells[WINDOW_REFERENCES] = cell_count(left < reuse->window ? left : reuse->window);
        row->cells[WINDOW_LINES] = cell_count(lines);
        row->cells[WINDOW_BYTES] = cell_count(lines << reuse->line_bits);
        row->cells[WINDOW_BAR] = bar_cell(table, lines, most);
    }
}

static const struct reuse_view views[] = {
    {"size", {"sizes", size_columns, SIZE_COLUMNS, size_text, sizeof size_text, NULL}, add_sizes},
    {"distance",
     {"distances", distance_columns, DISTANCE_COLUMNS, distance_text, sizeof distance_text, NULL},
     add_distances},
    {"window",
     {"windows", window_columns, WINDOW_COLUMNS, window_text, sizeof window_text, NULL},
     add_windows},
};

static const char *view_name_at(size_t i) {
    return i < sizeof views / sizeof *views ? views[i].name : NULL;
}

const struct reuse_view *choose_reuse_view(const char *name) {
    return &views[choose_name("--by", "view", name, view_name_at)];
}

void write_reuse_table(const struct reuse_options *options, const struct reuse *reuse,
                       const char *path) {
    struct arena arena = {0};
    struct table table = {.arena = &arena, .shape = &options->view->shape, .subject = path};
    options->view->add_rows(&table, reuse);
    table.heading = arena_print(&arena, ": %" PRIu64 " references to %zu lines of %u bytes",
                                reuse->references, reuse->lines.count, options->line);
    FILE *out = begin_output(options->output);
    struct table_style style = {.out = out, .human = options->human, .width = table_width(out)};
    table_write(&table, options->format, &style, options->limit);
    end_output(out, options->output);
    arena_release(&arena);
}
