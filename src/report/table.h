/* table.h: rows and columns, and the formats in which they are written.
 *
 * A report fills a table. Text, JSON and CSV are made only from the table. Every column has a name
 * that never changes: the key in JSON, the header in CSV, and the word behind --sort. Text shows
 * some of the columns, in an order of its own, with titles. */
#ifndef QUIPU_REPORT_TABLE_H
#define QUIPU_REPORT_TABLE_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cell_kind {
    CELL_TEXT,
    CELL_COUNT,
    CELL_NUMBER,  /* of a process or thread; text does not shorten it */
    CELL_ADDRESS, /* a number; text shows it in hexadecimal */
    CELL_SHARE,   /* from 0 to 1; text shows percent */
    CELL_FIGURE,  /* text that is a number with a sign or a unit: aligned as one, never shortened */
};

struct column {
    const char *name;
    const char *title; /* in text */
    enum cell_kind kind;
    bool text_only;    /* not in JSON and CSV, since it is made of other columns */
    const char *total; /* name of the sum over all rows; NULL: it has no sum */
};

struct cell {
    bool known; /* false: left out of JSON, empty elsewhere */
    union {
        const char *text;
        uint64_t count; /* an address too */
        double share;
    };
};

struct row {
    struct cell *cells; /* one for each column */
    double share; /* of all executed instructions, from 0 to 1: for colour and --min-percent */
    bool executed;
    size_t order; /* order of addition, which rows that compare equal keep */
};

/* The description of a table, without its rows. */
struct table_shape {
    const char *name; /* key of the array in JSON: "functions" */
    const struct column *columns;
    size_t column_count;
    const uint8_t *text; /* indexes of the columns that text shows, in this order; the last one
                            takes the rest of the line */
    size_t text_count;
    const char *sort; /* default column for sorting; NULL: rows stay as added */
};

struct table {
    struct arena *arena; /* of rows and cells */
    const struct table_shape *shape;
    VECTOR(struct row) rows;
    const char *heading;    /* text above the table; NULL: none */
    const char *subject;    /* text in front of the heading, which may lose its middle; or NULL */
    const uint64_t *totals; /* for formats: the sum of each column that has a total, over all rows,
                               even those that a limit cuts off */
};

/* How a table is written. */
struct table_style {
    FILE *out;
    bool human; /* only for text: short numbers */
    bool color; /* only for text */
    int width;  /* only for text: columns of the terminal; 0: as wide as it becomes */
};

/* Returns the width that a table on OUT may have: COLUMNS, or that of the terminal, or 80 if a
 * terminal does not tell. 0 if OUT is none, and COLUMNS is not set. */
int table_width(FILE *out);

/* A format: `begin`, then `row` for each row, then `end`. */
struct table_format {
    const char *name; /* as in --format=NAME */
    const char *help;
    void (*begin)(const struct table *table, const struct table_style *style);
    void (*row)(const struct table *table, const struct table_style *style, const struct row *row);
    void (*end)(const struct table *table, const struct table_style *style);
};

extern const struct table_format table_text, table_json, table_csv;

/* Returns the format with that NAME, from --format=NAME. An unknown name ends the program with an
 * error. */
const struct table_format *choose_table_format(const char *name);

/* Adds a row, whose cells are not known yet. */
struct row *table_add(struct table *table);

struct cell cell_text(const char *text); /* NULL or "": not known */
struct cell cell_count(uint64_t count);
struct cell cell_known(uint64_t count, bool known);
struct cell cell_share(double share);

/* Sorts the rows by column NAME: numbers from high to low, text and addresses from low to high.
 * "-NAME" reverses the order. An unknown column ends the program with an error. */
void table_sort(struct table *table, const char *name);

/* Writes the first LIMIT rows; 0: all rows. */
void table_write(const struct table *table, const struct table_format *format,
                 const struct table_style *style, size_t limit);

#endif
