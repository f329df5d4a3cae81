/* table.c: adds, sorts and writes rows; see table.h. */
#include "report/table.h"

#include "util/near.h"

#include <stdlib.h>
#include <string.h>

static const struct table_format *const formats[] = {&table_text, &table_json, &table_csv};

static const char *format_name_at(size_t i) {
    return i < sizeof formats / sizeof *formats ? formats[i]->name : NULL;
}

const struct table_format *choose_table_format(const char *name) {
    return formats[choose_name("--format", "format", name, format_name_at)];
}

struct row *table_add(struct table *table) {
    struct row row = {.cells = ARENA_ARRAY(table->arena, struct cell, table->shape->column_count),
                      .order = table->rows.count};
    vector_push(table->arena, &table->rows, row);
    return &table->rows.data[table->rows.count - 1];
}

struct cell cell_text(const char *text) {
    return (struct cell){.known = text && *text, .text = text};
}

struct cell cell_count(uint64_t count) {
    return (struct cell){.known = true, .count = count};
}

struct cell cell_known(uint64_t count, bool known) {
    return (struct cell){.known = known, .count = count};
}

struct cell cell_share(double share) {
    return (struct cell){.known = true, .share = share};
}

/* ---- sorting ---- */

struct sort_key {
    size_t column;
    enum cell_kind kind;
    bool reverse;
};

static int compare_cells(const struct cell *a, const struct cell *b, enum cell_kind kind) {
    if (!a->known || !b->known)
        return (int)b->known - (int)a->known; /* unknown values come last */
    switch (kind) {
    case CELL_TEXT:
    case CELL_FIGURE:
        return strcmp(a->text, b->text);
    case CELL_SHARE:
        return (a->share < b->share) - (a->share > b->share);
    case CELL_ADDRESS:
        return (a->count > b->count) - (a->count < b->count);
    case CELL_COUNT:
    case CELL_NUMBER:
        break;
    }
    return (a->count < b->count) - (a->count > b->count);
}

static int compare_rows(const void *left, const void *right, void *context) {
    const struct row *a = left, *b = right;
    const struct sort_key *key = context;
    int order = compare_cells(&a->cells[key->column], &b->cells[key->column], key->kind);
    if (order)
        return key->reverse ? -order : order;
    return a->order < b->order ? -1 : 1;
}

static const struct table_shape *sorted; /* shape of the table that is being sorted */

static const char *column_name_at(size_t i) {
    return i < sorted->column_count ? sorted->columns[i].name : NULL;
}

void table_sort(struct table *table, const char *name) {
    struct sort_key key = {.reverse = *name == '-'};
    sorted = table->shape;
    key.column = choose_name("--sort", "column", name + key.reverse, column_name_at);
    key.kind = sorted->columns[key.column].kind;
    if (table->rows.count)
        qsort_r(table->rows.data, table->rows.count, sizeof *table->rows.data, compare_rows, &key);
}

/* ---- writing ---- */

void table_write(const struct table *table, const struct table_format *format,
                 const struct table_style *style, size_t limit) {
    struct arena scratch = {0};
    uint64_t *totals = ARENA_ARRAY(&scratch, uint64_t, table->shape->column_count);
    for (size_t i = 0; i < table->rows.count; i++)
        for (size_t j = 0; j < table->shape->column_count; j++)
            if (table->shape->columns[j].total && table->rows.data[i].cells[j].known)
                totals[j] += table->rows.data[i].cells[j].count;
    size_t count = limit && limit < table->rows.count ? limit : table->rows.count;
    struct table shown = *table; /* so that only shown rows determine the widths */
    shown.rows.count = count;
    shown.totals = totals;
    format->begin(&shown, style);
    for (size_t i = 0; i < count; i++)
        format->row(&shown, style, &table->rows.data[i]);
    format->end(&shown, style);
    arena_release(&scratch);
}
