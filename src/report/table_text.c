/* table_text.c: writes a table as text in aligned columns, for a terminal:
 *
 *     instructions       %  calls  in function  never run  function
 *             1234   98.3%      1           20          3  main (max.c:12)
 *             1255  100.0%      2           31          3  total
 *
 * Numbers are aligned to the right, and text to the left. The last column takes the rest of the
 * line. On a terminal, text that is too long for it loses its middle: "a_very...name"; the path of
 * a place first: "name (.../file.c:12)", then all of the place. Numbers lose nothing. Bytes that
 * would act on the terminal are shown as '?'.
 *
 * Not perfect: a character counts as many columns as it has bytes. */
#include "report/table.h"

#include "report/style.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    COLUMNS_MAX = 16,
    SEPARATION = 2,
    ELIDED_MAX = 512,   /* bytes of a shortened text */
    TEXT_MAX = 60,      /* columns of text where the table has no width */
    TEXT_LEAST = 8,     /* columns that text keeps on a narrow terminal */
    NAME_LEAST = 20,    /* columns that a name keeps beside its place */
    SUBJECT_LEAST = 20, /* columns that the subject of a heading keeps */
    WIDTH_DEFAULT = 80  /* of a terminal that does not tell */
};

static int widths[COLUMNS_MAX]; /* of the only table that is being written */

static const struct column *text_column(const struct table *table, size_t i) {
    return &table->shape->columns[table->shape->text[i]];
}

static bool is_text(const struct column *column) {
    return column->kind == CELL_TEXT || column->kind == CELL_FIGURE;
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
    if (is_text(column))
        return cell->known ? (int)strlen(cell->text) : 0;
    print_cell(number, column, cell, human);
    return (int)strlen(number);
}

/* Text of more than MOST columns exceeds the column. */
static void widen(int *width, int needed, int most) {
    needed = needed < most ? needed : most;
    *width = needed > *width ? needed : *width;
}

int table_width(FILE *out) {
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    long width = columns ? strtol(columns, NULL, 10) : 0;
    if (width > 0 && width <= INT_MAX)
        return (int)width;
    if (!isatty(fileno(out)))
        return 0;
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH_DEFAULT;
}

/* Returns the widest column of text that can be narrower, or -1. */
static int find_widest(const struct table *table) {
    int widest = -1;
    for (size_t i = 0; i < table->shape->text_count; i++)
        if (text_column(table, i)->kind == CELL_TEXT && widths[i] > TEXT_LEAST &&
            widths[i] > (int)strlen(text_column(table, i)->title) &&
            (widest < 0 || widths[i] >= widths[widest]))
            widest = (int)i;
    return widest;
}

/* Makes columns of text narrower, the widest ones first, until all columns fit. */
static void fit_widths(const struct table *table, int width) {
    int sum = SEPARATION * ((int)table->shape->text_count - 1);
    for (size_t i = 0; i < table->shape->text_count; i++)
        sum += widths[i];
    for (int widest; sum > width && (widest = find_widest(table)) >= 0; sum--)
        widths[widest]--;
}

/* Writes to ROOM the LENGTH bytes of TEXT, without their middle if they are more than MOST.
 * Characters stay whole. */
static void elide_middle(const char *text, size_t length, size_t most, char *room) {
    size_t kept = most - strlen("..."), front = kept - kept / 2, head = 0;
    if (length <= most) {
        snprintf(room, ELIDED_MAX, "%.*s", (int)length, text);
        return;
    }
    for (size_t next; (next = utf8_length(text + head)) && head + next <= front;)
        head += next;
    head = head ? head : front; /* not UTF-8 */
    size_t tail = length - kept / 2;
    while ((text[tail] & 0xc0) == 0x80)
        tail++;
    snprintf(room, ELIDED_MAX, "%.*s...%.*s", (int)head, text, (int)(length - tail), text + tail);
}

/* Returns the length of TEXT, of LENGTH bytes, without a place at its end: "scan (scan.c:12)". */
static size_t length_without_place(const char *text, size_t length) {
    const char *place = strrchr(text, '('), *colon = strrchr(text, ':');
    if (!place || place == text || place[-1] != ' ' || !colon || colon < place)
        return length;
    const char *end = colon + 1 + strspn(colon + 1, "0123456789");
    return strcmp(end, ")") == 0 ? (size_t)(place - text) - 1 : length;
}

/* Shortens TEXT, of LENGTH bytes, if it ends with a place: "scan (.../scan.c:12)". The path loses
 * its first directories, only as many as are needed. If that is not enough, the name loses its
 * middle. Returns false if there is no place, or no room for both. */
static bool elide_place(const char *text, size_t length, size_t most, char *room) {
    const char *place = strrchr(text, '('), *path = NULL;
    size_t name = place ? (size_t)(place - text) : 0, rest = 0;
    for (const char *next = place; next && (next = strchr(next + 1, '/'));) {
        path = next;
        rest = strlen("(...") + length - (size_t)(path - text);
        if (name + rest <= most)
            break;
    }
    if (!path || rest + (name < NAME_LEAST ? name : NAME_LEAST) > most)
        return false;
    elide_middle(text, name, most - rest, room);
    size_t shown = strlen(room);
    snprintf(room + shown, ELIDED_MAX - shown, "%s(...%s", room[shown - 1] == ' ' ? "" : " ", path);
    return true;
}

/* Returns TEXT, or a shorter copy in ROOM that is not longer than WIDTH. */
static const char *elide(const char *text, int width, char *room) {
    size_t length = strlen(text), most = (size_t)width;
    if (length <= most)
        return text;
    if (!elide_place(text, length, most, room))
        elide_middle(text, length_without_place(text, length), most, room);
    return room;
}

static void find_widths(const struct table *table, bool human, int width) {
    int most = width < ELIDED_MAX ? width : ELIDED_MAX - 1;
    most = most > TEXT_MAX ? most : TEXT_MAX;
    for (size_t i = 0; i < table->shape->text_count; i++) {
        const struct column *column = text_column(table, i);
        widths[i] = (int)strlen(column->title);
        for (size_t j = 0; j < table->rows.count; j++)
            widen(&widths[i],
                  cell_width(column, &table->rows.data[j].cells[table->shape->text[i]], human),
                  most);
        if (column->total) {
            char number[NUMBER_MAX];
            print_number(number, table->totals[table->shape->text[i]], human);
            widen(&widths[i], (int)strlen(number), most);
        }
    }
    if (width)
        fit_widths(table, width);
}

/* Writes TEXT as text column I. */
static void write_padded(const struct table *table, FILE *out, size_t i, const char *text) {
    bool is_left = text_column(table, i)->kind == CELL_TEXT;
    bool is_last = i + 1 == table->shape->text_count;
    int missing = widths[i] - (int)strlen(text);
    if (i)
        fprintf(out, "%*s", SEPARATION, "");
    if (!is_left && missing > 0)
        fprintf(out, "%*s", missing, "");
    write_safely(out, text);
    if (is_left && missing > 0 && !is_last)
        fprintf(out, "%*s", missing, "");
}

/* Writes the heading, whose subject loses its middle if both do not fit. */
static void write_heading(const struct table *table, const struct table_style *style) {
    char elided[ELIDED_MAX];
    int left = style->width - (int)strlen(table->heading);
    left = left < SUBJECT_LEAST ? SUBJECT_LEAST : left < ELIDED_MAX ? left : ELIDED_MAX - 1;
    if (table->subject)
        write_safely(style->out,
                     style->width ? elide(table->subject, left, elided) : table->subject);
    write_safely(style->out, table->heading);
}

static void begin_text(const struct table *table, const struct table_style *style) {
    if (table->heading) {
        write_heading(table, style);
        fputs("\n\n", style->out);
    }
    find_widths(table, style->human, style->width);
    fputs(style_start(style->color, STYLE_TITLE), style->out);
    for (size_t i = 0; i < table->shape->text_count; i++)
        write_padded(table, style->out, i, text_column(table, i)->title);
    fprintf(style->out, "%s\n", style_end(style->color, STYLE_TITLE));
}

static void write_row(const struct table *table, const struct table_style *style,
                      const struct row *row) {
    char elided[ELIDED_MAX];
    enum style look = row->executed ? style_of_share(row->share) : STYLE_DIM;
    fputs(style_start(style->color, look), style->out);
    for (size_t i = 0; i < table->shape->text_count; i++) {
        const struct column *column = text_column(table, i);
        const struct cell *cell = &row->cells[table->shape->text[i]];
        char number[NUMBER_MAX];
        if (is_text(column)) {
            const char *text = cell->known ? cell->text : "";
            bool whole = !style->width || column->kind == CELL_FIGURE;
            write_padded(table, style->out, i, whole ? text : elide(text, widths[i], elided));
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
