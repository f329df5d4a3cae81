/* table_csv.c: writes a table as comma-separated values (RFC 4180).
 *
 * The first line is a header. Lines end in CRLF. A field with a comma, a quote or a line break is
 * in quotes. There are no totals. Unknown cells are empty. */
#include "report/csv_writer.h"
#include "report/table.h"

#include <inttypes.h>

static void begin_csv(const struct table *table, const struct table_style *style) {
    const char *separator = "";
    for (size_t i = 0; i < table->shape->column_count; i++) {
        if (table->shape->columns[i].text_only)
            continue;
        fputs(separator, style->out);
        csv_field(style->out, table->shape->columns[i].name);
        separator = ",";
    }
    fputs("\r\n", style->out);
}

static void write_cell(FILE *out, const struct column *column, const struct cell *cell) {
    if (!cell->known)
        return;
    switch (column->kind) {
    case CELL_TEXT:
    case CELL_FIGURE:
        csv_field(out, cell->text);
        break;
    case CELL_SHARE:
        fprintf(out, "%.6f", cell->share);
        break;
    case CELL_COUNT:
    case CELL_NUMBER:
    case CELL_ADDRESS:
        fprintf(out, "%" PRIu64, cell->count);
        break;
    }
}

static void write_row(const struct table *table, const struct table_style *style,
                      const struct row *row) {
    const char *separator = "";
    for (size_t i = 0; i < table->shape->column_count; i++) {
        if (table->shape->columns[i].text_only)
            continue;
        fputs(separator, style->out);
        write_cell(style->out, &table->shape->columns[i], &row->cells[i]);
        separator = ",";
    }
    fputs("\r\n", style->out);
}

static void end_csv(const struct table *table, const struct table_style *style) {
    (void)table;
    (void)style;
}

const struct table_format table_csv = {
    .name = "csv",
    .help = "comma-separated values with a header (RFC 4180)",
    .begin = begin_csv,
    .row = write_row,
    .end = end_csv,
};
