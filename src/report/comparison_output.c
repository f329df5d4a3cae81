/* comparison_output.c: writes comparisons as JSON, CSV and an HTML page; see comparison_output.h.
 */
#include "report/comparison_output.h"

#include "report/csv_writer.h"
#include "report/html_page.h"
#include "report/json_writer.h"

#include <inttypes.h>

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

static void write_members(struct json_writer *json, const struct comparison *comparison,
                          size_t count, const struct comparison_style *style) {
    json_string(json, "by", style->by);
    json_open_array(json, style->of_calls ? "callsites" : "functions");
    for (size_t i = 0; i < count; i++) {
        const struct compared_row *row = &comparison->rows[i];
        json_open_object(json, NULL);
        write_json_names(json, row, style);
        json_string(json, "status", comparison_status(row));
        write_pair(json, "instructions", row->instructions);
        write_pair(json, "calls", row->calls);
        json_close(json);
    }
    json_close(json);
    json_open_object(json, "totals");
    write_pair(json, "instructions", comparison->instructions);
    write_pair(json, "calls", comparison->calls);
    json_unsigned(json, "unchanged", comparison->unchanged);
    json_close(json);
}

void write_comparison_json(const struct comparison *comparison, size_t count,
                           const struct comparison_style *style) {
    struct json_writer json = json_start(style->out, 2);
    json_open_object(&json, NULL);
    write_members(&json, comparison, count, style);
    json_close(&json);
    json_end(&json);
}

/* ---- HTML ---- */

void write_comparison_html(const struct comparison *comparison, size_t count,
                           const struct comparison_style *style) {
    FILE *data = html_begin_page(style->out, &page_comparison);
    struct json_writer json = json_start(data, 2);
    json_open_object(&json, NULL);
    json_string(&json, "version", style->version);
    json_string(&json, "before", style->sides[BEFORE]);
    json_string(&json, "after", style->sides[AFTER]);
    write_members(&json, comparison, count, style);
    json_close(&json);
    json_end(&json);
    html_end_page(style->out, data);
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
