/* table.h: rows and columns, and the formats that they are written in.
 *
 * A report fills a table; text, JSON and CSV are made from it alone.  Every column has a name that
 * never changes (key in JSON, header in CSV, word after --sort); text shows its own choice of the
 * columns, in its own order, under a title. */
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
    CELL_NUMBER,  /* of a process or thread; text never shortens it */
    CELL_ADDRESS, /* a number; text shows it in base 16 */
    CELL_SHARE,   /* from 0 to 1; text shows percent */
};

struct column {
    const char *name;
    const char *title; /* in text */
    enum cell_kind kind;
    bool text_only;    /* not in JSON and CSV: made of what other columns hold */
    const char *total; /* name of the sum over all rows; NULL: none is meant */
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
    double share; /* of all instructions executed, from 0 to 1: for colour and --min-percent */
    bool executed;
    size_t order; /* of being added: rows that sort alike keep it */
};

/* All that describes a table before it has rows. */
struct table_shape {
    const char *name; /* key of the array in JSON: "functions" */
    const struct column *columns;
    size_t column_count;
    const uint8_t *text; /* indexes of the columns that text shows, in its order; the last one takes
                            the rest of the line */
    size_t text_count;
    const char
        *sort; /* the column it is sorted by where nothing else is asked for; NULL: as added */
};

struct table {
    struct arena *arena; /* of rows and cells */
    const struct table_shape *shape;
    VECTOR(struct row) rows;
    const char *heading;    /* text above the table; NULL: none */
    const uint64_t *totals; /* for formats: for each column that has a total the sum over all rows,
                               also those that a limit cut off */
};

/* How a table is written. */
struct table_style {
    FILE *out;
    bool human; /* text: short numbers */
    bool color; /* text */
};

/* A way to write a table: begin, then row for each row, then end. */
struct table_format {
    const char *name; /* as in --format=NAME */
    const char *help;
    void (*begin)(const struct table *table, const struct table_style *style);
    void (*row)(const struct table *table, const struct table_style *style, const struct row *row);
    void (*end)(const struct table *table, const struct table_style *style);
};

extern const struct table_format table_text, table_json, table_csv;

/* The format that --format=NAME means.  Where there is none, that ends the program. */
const struct table_format *choose_table_format(const char *name);

/* Adds a row of cells that are not known yet. */
struct row *table_add(struct table *table);

struct cell cell_text(const char *text); /* NULL or "": not known */
struct cell cell_count(uint64_t count);
struct cell cell_known(uint64_t count, bool known);
struct cell cell_share(double share);

/* Sorts the rows by column NAME: numbers from high to low, text from low to high; "-NAME" turns it
 * round.  Where there is no such column, that ends the program. */
void table_sort(struct table *table, const char *name);

/* Writes the first LIMIT rows, 0: all. */
void table_write(const struct table *table, const struct table_format *format,
                 const struct table_style *style, size_t limit);

#endif
