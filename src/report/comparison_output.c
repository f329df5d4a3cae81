/* comparison_output.c: writes comparisons as text, JSON and CSV.
 *
 *     before     after     delta  percent  calls before  calls after  function
 *      10000     12500     +2500  +25.00%           100          125  scan (/src/scan.c:12)
 *          -       900      +900      new             -            3  grow (/src/table.c:40)
 *      10000     13400     +3400  +34.00%           100          128  total
 *
 * For calls, the last column is "look_up from scan (/src/scan.c:13)". */
#include "report/comparison_output.h"

#include "report/csv_writer.h"
#include "report/json_writer.h"
#include "report/style.h"
#include "report/view.h"

#include <inttypes.h>
#include <math.h>

/* ---- text ---- */

enum {
    CELL = NUMBER_MAX + 1 /* room for a sign */
};

/* Prints a count, or "-" if the side does not have the row. */
static void print_count(char text[CELL], uint64_t count, bool present, bool human) {
    if (present)
        print_number(text, count, human);
    else
        snprintf(text, CELL, "-");
}

static void print_delta(char text[CELL], const uint64_t counts[SIDES], bool human) {
    bool grew = counts[AFTER] >= counts[BEFORE];
    text[0] = grew ? '+' : '-';
    print_number(text + 1, grew ? counts[AFTER] - counts[BEFORE] : counts[BEFORE] - counts[AFTER],
                 human);
}

static void print_percent(char text[CELL], const struct compared_row *row) {
    double percent = delta_percent(row->instructions);
    if (!row->present[BEFORE] || !row->present[AFTER])
        snprintf(text, CELL, "%s", comparison_status(row));
    else if (isinf(percent))
        snprintf(text, CELL, "from 0");
    else
        snprintf(text, CELL, "%+.2f%%", percent);
}

static void write_name(const struct compared_row *row, const struct comparison_style *style) {
    if (*row->callee_demangled) {
        write_safely(style->out, row->callee_demangled);
        fputs(" from ", style->out);
    }
    write_safely(style->out, row->demangled);
    if (*row->file) {
        fputs(" (", style->out);
        write_safely(style->out, short_path(style->arena, row->file));
        fprintf(style->out, ":%" PRIu32 ")", row->line);
    }
}

static void write_row(const struct compared_row *row, const struct comparison_style *style) {
    char counts[SIDES][CELL], calls[SIDES][CELL], delta[CELL], percent[CELL];
    for (int i = 0; i < SIDES; i++) {
        print_count(counts[i], row->instructions[i], row->present[i], style->human);
        print_count(calls[i], row->calls[i], row->present[i], style->human);
    }
    print_delta(delta, row->instructions, style->human);
    print_percent(percent, row);
    enum style color =
        row->instructions[AFTER] > row->instructions[BEFORE] ? STYLE_HOT : STYLE_PLAIN;
    fputs(style_start(style->color, color), style->out);
    fprintf(style->out, "%16s %16s %16s %11s %13s %13s  ", counts[BEFORE], counts[AFTER], delta,
            percent, calls[BEFORE], calls[AFTER]);
    write_name(row, style);
    fprintf(style->out, "%s\n", style_end(style->color, color));
}

void write_comparison_text(const struct comparison *comparison, size_t count,
                           const struct comparison_style *style) {
    fprintf(style->out, "%16s %16s %16s %11s %13s %13s  %s\n", "before", "after", "delta",
            "percent", "calls before", "calls after", style->headline);
    for (size_t i = 0; i < count; i++)
        write_row(&comparison->rows[i], style);
    struct compared_row total = {.demangled = "total", .callee_demangled = "", .file = ""};
    for (int i = 0; i < SIDES; i++) {
        total.present[i] = true;
        total.instructions[i] = comparison->instructions[i];
        total.calls[i] = comparison->calls[i];
    }
    write_row(&total, style);
    size_t changed = comparison->count - comparison->unchanged;
    if (count < changed)
        fprintf(style->out, "%zu more that changed are not shown\n", changed - count);
    if (comparison->unchanged)
        fprintf(style->out, "%zu %s did not change\n", comparison->unchanged, style->unit);
}

/* ---- JSON ---- */

static void write_pair(struct json_writer *json, const char *key, const uint64_t counts[SIDES]) {
    json_open_object(json, key);
    json_unsigned(json, "before", counts[BEFORE]);
    json_unsigned(json, "after", counts[AFTER]);
    json_signed(json, "delta", count_delta(counts));
    json_real(json, "percent", delta_percent(counts), 4);
    json_close(json);
}

static void write_json_names(struct json_writer *json, const struct compared_row *row,
                             const struct comparison_style *style) {
    json_string(json, style->of_calls ? "caller" : "name", row->name);
    json_string(json, style->of_calls ? "caller_demangled" : "demangled", row->demangled);
    if (style->of_calls) {
        json_string(json, "callee", row->callee);
        json_string(json, "callee_demangled", row->callee_demangled);
    }
    json_string(json, "file", row->file);
    json_unsigned(json, "line", row->line);
}

void write_comparison_json(const struct comparison *comparison, size_t count,
                           const struct comparison_style *style) {
    struct json_writer json = json_start(style->out, 2);
    json_open_object(&json, NULL);
    json_string(&json, "by", style->by);
    json_open_array(&json, style->of_calls ? "callsites" : "functions");
    for (size_t i = 0; i < count; i++) {
        const struct compared_row *row = &comparison->rows[i];
        json_open_object(&json, NULL);
        write_json_names(&json, row, style);
        json_string(&json, "status", comparison_status(row));
        write_pair(&json, "instructions", row->instructions);
        write_pair(&json, "calls", row->calls);
        json_close(&json);
    }
    json_close(&json);
    json_open_object(&json, "totals");
    write_pair(&json, "instructions", comparison->instructions);
    write_pair(&json, "calls", comparison->calls);
    json_unsigned(&json, "unchanged", comparison->unchanged);
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

/* ---- CSV (RFC 4180) ---- */

static void write_csv_row(const struct compared_row *row, const struct comparison_style *style) {
    const char *texts[] = {row->name, row->demangled, row->callee, row->callee_demangled,
                           row->file};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        if (!style->of_calls && (t == 2 || t == 3))
            continue;
        csv_field(style->out, texts[t]);
        fputc(',', style->out);
    }
    fprintf(style->out,
            "%" PRIu32 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64
            "\r\n",
            row->line, comparison_status(row), row->instructions[BEFORE], row->instructions[AFTER],
            count_delta(row->instructions), row->calls[BEFORE], row->calls[AFTER],
            count_delta(row->calls));
}

void write_comparison_csv(const struct comparison *comparison, size_t count,
                          const struct comparison_style *style) {
    fputs(style->of_calls ? "caller,caller_demangled,callee,callee_demangled" : "name,demangled",
          style->out);
    fputs(",file,line,status,instructions_before,instructions_after,instructions_delta,"
          "calls_before,calls_after,calls_delta\r\n",
          style->out);
    for (size_t i = 0; i < count; i++)
        write_csv_row(&comparison->rows[i], style);
}
