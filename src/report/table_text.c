/* table_text.c: writes a table as text in aligned columns, for a terminal:
 *
 *     instructions       %  calls  in function  never run  function
 *             1234   98.3%      1           20          3  main (max.c:12)
 *             1255  100.0%      2           31          3  total
 *
 * Numbers are aligned to the right, and text to the left. The last column takes the rest of the
 * line. Bytes that would act on the terminal are shown as '?'. */
#include "report/table.h"

#include "report/style.h"

#include <inttypes.h>
#include <string.h>

enum {
    COLUMNS_MAX = 16,
    SEPARATION = 2,
};

static int widths[COLUMNS_MAX]; /* of the only table that is being written */

static const struct column *text_column(const struct table *table, size_t i) {
    return &table->shape->columns[table->shape->text[i]];
}

/* Writes to TEXT the cell of a column that is not text. */
static void print_cell(char *text, const struct column *column, const struct cell *cell,
                       bool human) {
    text[0] = '\0';
    if (!cell->known)
        return;
    if (column->kind == CELL_SHARE)
        snprintf(text, NUMBER_MAX, "%.1f%%", 100 * cell->share);
    else if (column->kind == CELL_ADDRESS)
        snprintf(text, NUMBER_MAX, "%" PRIx64, cell->count);
    else
        print_number(text, cell->count, human && column->kind == CELL_COUNT);
}

static int cell_width(const struct column *column, const struct cell *cell, bool human) {
    char number[NUMBER_MAX];
    if (column->kind == CELL_TEXT)
        return cell->known ? (int)strlen(cell->text) : 0;
    print_cell(number, column, cell, human);
    return (int)strlen(number);
}

static void widen(int *width, int needed) {
    enum {
        TEXT_MAX = 60 /* longer text exceeds the column */
    };
    needed = needed < TEXT_MAX ? needed : TEXT_MAX;
    *width = needed > *width ? needed : *width;
}

static void find_widths(const struct table *table, bool human) {
    for (size_t i = 0; i < table->shape->text_count; i++) {
        const struct column *column = text_column(table, i);
        widths[i] = (int)strlen(column->title);
        for (size_t j = 0; j < table->rows.count; j++)
            widen(&widths[i],
                  cell_width(column, &table->rows.data[j].cells[table->shape->text[i]], human));
        if (column->total) {
            char number[NUMBER_MAX];
            print_number(number, table->totals[table->shape->text[i]], human);
            widen(&widths[i], (int)strlen(number));
        }
    }
}

/* Writes TEXT as text column I. */
static void write_padded(const struct table *table, FILE *out, size_t i, const char *text) {
    bool is_text = text_column(table, i)->kind == CELL_TEXT;
    bool is_last = i + 1 == table->shape->text_count;
    int missing = widths[i] - (int)strlen(text);
    if (i)
        fprintf(out, "%*s", SEPARATION, "");
    if (!is_text && missing > 0)
        fprintf(out, "%*s", missing, "");
    write_safely(out, text);
    if (is_text && missing > 0 && !is_last)
        fprintf(out, "%*s", missing, "");
}

static void begin_text(const struct table *table, const struct table_style *style) {
    if (table->heading) {
        write_safely(style->out, table->heading);
        fputs("\n\n", style->out);
    }
    find_widths(table, style->human);
    fputs(style_start(style->color, STYLE_TITLE), style->out);
    for (size_t i = 0; i < table->shape->text_count; i++)
        write_padded(table, style->out, i, text_column(table, i)->title);
    fprintf(style->out, "%s\n", style_end(style->color, STYLE_TITLE));
}

static void write_row(const struct table *table, const struct table_style *style,
                      const struct row *row) {
    enum style look = row->executed ? style_of_share(row->share) : STYLE_DIM;
    fputs(style_start(style->color, look), style->out);
    for (size_t i = 0; i < table->shape->text_count; i++) {
        const struct column *column = text_column(table, i);
        const struct cell *cell = &row->cells[table->shape->text[i]];
        char number[NUMBER_MAX];
        if (column->kind == CELL_TEXT) {
            write_padded(table, style->out, i, cell->known ? cell->text : "");
        } else {
            print_cell(number, column, cell, style->human);
            write_padded(table, style->out, i, number);
        }
    }
    fprintf(style->out, "%s\n", style_end(style->color, look));
}

/* Whether any column has a total. Rows of different kinds, such as several kinds of events, have
 * none. */
static bool has_totals(const struct table *table) {
    for (size_t i = 0; i < table->shape->text_count; i++)
        if (text_column(table, i)->total)
            return true;
    return false;
}

static void end_text(const struct table *table, const struct table_style *style) {
    if (!has_totals(table))
        return;
    fputs(style_start(style->color, STYLE_TITLE), style->out);
    for (size_t i = 0; i < table->shape->text_count; i++) {
        char number[NUMBER_MAX] = "";
        if (text_column(table, i)->total)
            print_number(number, table->totals[table->shape->text[i]], style->human);
        bool is_last = i + 1 == table->shape->text_count;
        write_padded(table, style->out, i, is_last && !*number ? "total" : number);
    }
    fprintf(style->out, "%s\n", style_end(style->color, STYLE_TITLE));
}

const struct table_format table_text = {
    .name = "text",
    .help = "aligned columns",
    .begin = begin_text,
    .row = write_row,
    .end = end_text,
};
