/* watch_summary.c: the table of the writers of watched objects; see watch_summary.h. */
#include "cmd/watch_summary.h"

enum summary_column {
    COLUMN_HITS,
    COLUMN_CHANGES,
    COLUMN_UNDECIDED,
    COLUMN_FUNCTION,
    COLUMN_FILE,
    COLUMN_LINE,
    COLUMN_PLACE,
    COLUMN_EXPRESSION,
    COLUMN_INSTRUCTION,
    COLUMNS,
};

static const struct column columns[COLUMNS] = {
    [COLUMN_HITS] = {"hits", "hits", CELL_COUNT, false, "total_hits"},
    [COLUMN_CHANGES] = {"changes", "changes", CELL_COUNT, false, "total_changes"},
    [COLUMN_UNDECIDED] = {"undecided", "undecided", CELL_COUNT, false, "total_undecided"},
    [COLUMN_FUNCTION] = {"function", "function", CELL_TEXT, false, NULL},
    [COLUMN_FILE] = {"file", "file", CELL_TEXT, false, NULL},
    [COLUMN_LINE] = {"line", "line", CELL_NUMBER, false, NULL},
    [COLUMN_PLACE] = {"place", "line", CELL_TEXT, true, NULL},
    [COLUMN_EXPRESSION] = {"expression", "expression", CELL_TEXT, false, NULL},
    [COLUMN_INSTRUCTION] = {"instruction", "instruction", CELL_TEXT, false, NULL},
};
static const uint8_t text_columns[] = {COLUMN_HITS,  COLUMN_CHANGES,    COLUMN_FUNCTION,
                                       COLUMN_PLACE, COLUMN_EXPRESSION, COLUMN_INSTRUCTION};

static const uint8_t text_columns_undecided[] = {
    COLUMN_HITS,  COLUMN_CHANGES,    COLUMN_UNDECIDED,  COLUMN_FUNCTION,
    COLUMN_PLACE, COLUMN_EXPRESSION, COLUMN_INSTRUCTION};

static const struct table_shape shape = {"writers",           columns, COLUMNS, text_columns,
                                         sizeof text_columns, "hits"};
static const struct table_shape shape_undecided = {
    "writers", columns, COLUMNS, text_columns_undecided, sizeof text_columns_undecided, "hits"};

static bool is_any_undecided(const struct session *session) {
    for (size_t i = 0; i < session->writers.all.count; i++)
        if (session->writers.all.data[i]->undecided)
            return true;
    return false;
}

void print_summary(const struct session *session, const struct table_format *format, FILE *out) {
    struct arena arena = {0};
    struct table table = {.arena = &arena,
                          .shape = is_any_undecided(session) ? &shape_undecided : &shape};
    const struct table_style style = {.out = out, .width = table_width(out)};
    for (size_t i = 0; i < session->writers.all.count; i++) {
        const struct writer *writer = session->writers.all.data[i];
        if (!writer->hits) /* an allowed writer */
            continue;
        struct cell *cells = table_add(&table)->cells;
        cells[COLUMN_HITS] = cell_count(writer->hits);
        cells[COLUMN_CHANGES] = cell_count(writer->changes);
        cells[COLUMN_UNDECIDED] = cell_count(writer->undecided);
        cells[COLUMN_FUNCTION] = cell_text(writer->function);
        cells[COLUMN_FILE] = cell_text(writer->file);
        cells[COLUMN_LINE] = cell_known(writer->line, writer->line);
        cells[COLUMN_PLACE] = cell_text(writer->place);
        cells[COLUMN_EXPRESSION] = cell_text(session->watched.data[writer->watched].text);
        cells[COLUMN_INSTRUCTION] = cell_text(writer->instruction);
    }
    table_sort(&table, shape.sort);
    table_write(&table, format, &style, 0);
    arena_release(&arena);
}
