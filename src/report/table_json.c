/* table_json.c: writes a table as JSON:
 *
 *     {
 *       "functions": [
 *         {"name": "main", "file": "/src/max.c", "line": 12, "calls": 1, ...},
 *         ...
 *       ],
 *       "totals": {"instructions": 1234}
 *     }
 *
 * Unknown cells are left out. */
#include "report/table.h"

#include "report/json_writer.h"

static struct json_writer writer; /* of the only table that is being written */

static void begin_json(const struct table *table, const struct table_style *style) {
    writer = json_start(style->out, 2);
    json_open_object(&writer, NULL);
    json_open_array(&writer, table->shape->name);
}

static void write_cell(const struct column *column, const struct cell *cell) {
    if (!cell->known || column->text_only)
        return;
    switch (column->kind) {
    case CELL_TEXT:
    case CELL_FIGURE:
        json_string(&writer, column->name, cell->text);
        break;
    case CELL_SHARE:
        json_real(&writer, column->name, cell->share, 6);
        break;
    case CELL_COUNT:
    case CELL_NUMBER:
    case CELL_ADDRESS:
        json_unsigned(&writer, column->name, cell->count);
        break;
    }
}

static void write_row(const struct table *table, const struct table_style *style,
                      const struct row *row) {
    (void)style;
    json_open_object(&writer, NULL);
    for (size_t i = 0; i < table->shape->column_count; i++)
        write_cell(&table->shape->columns[i], &row->cells[i]);
    json_close(&writer);
}

static void end_json(const struct table *table, const struct table_style *style) {
    (void)style;
    json_close(&writer);
    json_open_object(&writer, "totals");
    for (size_t i = 0; i < table->shape->column_count; i++)
        if (table->shape->columns[i].total)
            json_unsigned(&writer, table->shape->columns[i].total, table->totals[i]);
    json_close(&writer);
    json_close(&writer);
    json_end(&writer);
}

const struct table_format table_json = {
    .name = "json",
    .help = "one object: an array of rows, and totals",
    .begin = begin_json,
    .row = write_row,
    .end = end_json,
};
