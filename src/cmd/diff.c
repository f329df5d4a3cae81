/* diff.c: quipu diff A B: two runs or two builds, function by function.
 *
 *     before     after     delta  percent  calls before  calls after  function
 *      10000     12500     +2500  +25.00%           100          125  scan (/src/scan.c:12)
 *          -       900      +900      new             -            3  grow (/src/table.c:40)
 *      10000     13400     +3400  +34.00%           100          128  total
 *
 * Functions are matched as comparison.h tells. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"

#include "report/comparison.h"
#include "report/json_writer.h"
#include "report/progress.h"
#include "report/style.h"
#include "report/view.h"
#include "util/diag.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diff_options {
    struct arena *arena; /* for what is shown */
    const struct diff_format *format;
    bool all;          /* also what did not change */
    bool color;        /* text */
    bool human;        /* text: short numbers */
    size_t limit;      /* rows at most */
    double fail_above; /* percent; infinite: never */
};

struct diff_format {
    const char *name;
    /* Writes the first COUNT functions of COMPARISON, and its totals. */
    void (*write)(const struct comparison *comparison, size_t count,
                  const struct diff_options *options);
};

/* ---- text ---- */

enum {
    CELL = NUMBER_MAX + 1 /* room for a sign */
};

/* A count, or "-" where the function is not there. */
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

static void print_percent(char text[CELL], const struct compared_function *row) {
    double percent = delta_percent(row->instructions);
    if (!row->present[BEFORE] || !row->present[AFTER])
        snprintf(text, CELL, "%s", comparison_status(row));
    else if (isinf(percent))
        snprintf(text, CELL, "from 0");
    else
        snprintf(text, CELL, "%+.2f%%", percent);
}

/* Writes TEXT so that nothing in it acts on the terminal. */
static void write_safely(const char *text) {
    for (; *text; text++)
        putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void write_row(const struct compared_function *row, const struct diff_options *options) {
    char counts[SIDES][CELL], calls[SIDES][CELL], delta[CELL], percent[CELL];
    for (int i = 0; i < SIDES; i++) {
        print_count(counts[i], row->instructions[i], row->present[i], options->human);
        print_count(calls[i], row->calls[i], row->present[i], options->human);
    }
    print_delta(delta, row->instructions, options->human);
    print_percent(percent, row);
    enum style style =
        row->instructions[AFTER] > row->instructions[BEFORE] ? STYLE_HOT : STYLE_PLAIN;
    fputs(style_start(options->color, style), stdout);
    printf("%16s %16s %16s %11s %13s %13s  ", counts[BEFORE], counts[AFTER], delta, percent,
           calls[BEFORE], calls[AFTER]);
    write_safely(row->demangled);
    if (*row->file) {
        fputs(" (", stdout);
        write_safely(short_path(options->arena, row->file));
        printf(":%" PRIu32 ")", row->line);
    }
    printf("%s\n", style_end(options->color, style));
}

static void write_text(const struct comparison *comparison, size_t count,
                       const struct diff_options *options) {
    printf("%16s %16s %16s %11s %13s %13s  %s\n", "before", "after", "delta", "percent",
           "calls before", "calls after", "function");
    for (size_t i = 0; i < count; i++)
        write_row(&comparison->functions[i], options);
    struct compared_function total = {.demangled = "total", .file = ""};
    for (int i = 0; i < SIDES; i++) {
        total.present[i] = true;
        total.instructions[i] = comparison->instructions[i];
        total.calls[i] = comparison->calls[i];
    }
    write_row(&total, options);
    size_t changed = comparison->count - comparison->unchanged;
    if (count < changed)
        printf("%zu more that changed are not shown\n", changed - count);
    if (comparison->unchanged)
        printf("%zu functions did not change\n", comparison->unchanged);
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

static void write_json(const struct comparison *comparison, size_t count,
                       const struct diff_options *options) {
    (void)options;
    struct json_writer json = json_start(stdout, 2);
    json_open_object(&json, NULL);
    json_open_array(&json, "functions");
    for (size_t i = 0; i < count; i++) {
        const struct compared_function *row = &comparison->functions[i];
        json_open_object(&json, NULL);
        json_string(&json, "name", row->name);
        json_string(&json, "demangled", row->demangled);
        json_string(&json, "file", row->file);
        json_unsigned(&json, "line", row->line);
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

/* ---- CSV, as RFC 4180 ---- */

static void write_field(const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static void write_csv(const struct comparison *comparison, size_t count,
                      const struct diff_options *options) {
    (void)options;
    fputs(
        "name,demangled,file,line,status,instructions_before,instructions_after,instructions_delta,"
        "calls_before,calls_after,calls_delta\r\n",
        stdout);
    for (size_t i = 0; i < count; i++) {
        const struct compared_function *row = &comparison->functions[i];
        const char *texts[] = {row->name, row->demangled, row->file};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            write_field(texts[t]);
            putchar(',');
        }
        printf("%" PRIu32 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64
               "\r\n",
               row->line, comparison_status(row), row->instructions[BEFORE],
               row->instructions[AFTER], count_delta(row->instructions), row->calls[BEFORE],
               row->calls[AFTER], count_delta(row->calls));
    }
}

static const struct diff_format formats[] = {
    {"text", write_text},
    {"json", write_json},
    {"csv", write_csv},
};

/* ---- the command ---- */

static void print_help(void) {
    fputs("usage: quipu diff [OPTIONS] BEFORE AFTER\n\n"
          "Compares two runs or the runs of two builds, function by function, the largest\n"
          "difference in instructions executed first.  BEFORE and AFTER are each a data file or\n"
          "a directory of them.\n\noptions:\n"
          "  --format=text|json|csv\n"
          "  --limit=N             show N functions at most\n"
          "  --all                 show functions that did not change, too\n"
          "  --fail-above=PERCENT  exit with status 1 where instructions executed, of all\n"
          "                        functions, grew by more than that\n"
          "  --human               text: short numbers, 1.23G\n"
          "  --color=auto|always|never\n",
          stdout);
}

static void take_format(void *options, const char *name) {
    size_t i = 0;
    while (i < sizeof formats / sizeof *formats && strcmp(formats[i].name, name) != 0)
        i++;
    if (i == sizeof formats / sizeof *formats)
        die("'%s': no such format; --format takes text, json or csv", name);
    ((struct diff_options *)options)->format = &formats[i];
}

static void take_limit(void *options, const char *text) {
    char *end;
    unsigned long long limit = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || limit > SIZE_MAX)
        die("'%s': --limit takes a number of rows", text);
    ((struct diff_options *)options)->limit = (size_t)limit;
}

static void take_percent(void *options, const char *text) {
    char *end;
    double percent = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "%") != 0) || !isfinite(percent) || percent < 0)
        die("'%s': --fail-above takes a percentage such as 0.5", text);
    ((struct diff_options *)options)->fail_above = percent;
}

static void take_color(void *options, const char *word) {
    ((struct diff_options *)options)->color = parse_color(word, stdout);
}

static const struct option_row rows[] = {
    {"format", 0, OPTION_PARSED, 0, take_format},
    {"limit", 0, OPTION_PARSED, 0, take_limit},
    {"all", 0, OPTION_FLAG, offsetof(struct diff_options, all), NULL},
    {"fail-above", 0, OPTION_PARSED, 0, take_percent},
    {"color", 0, OPTION_PARSED, 0, take_color},
    {"human", 0, OPTION_FLAG, offsetof(struct diff_options, human), NULL},
};

static const struct command_line command_line = {"diff", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

static struct profile *open_counted(char *const *path) {
    struct profile *profile = profile_open(path, 1);
    profile_count(profile, (struct selection){0});
    return profile;
}

int cmd_diff(int argc, char **argv) {
    struct diff_options options = {
        .format = formats,
        .color = parse_color("auto", stdout),
        .limit = SIZE_MAX,
        .fail_above = INFINITY,
    };
    int first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    if (argc - first != 2)
        die("two runs are needed: quipu diff BEFORE AFTER");
    show_progress();
    struct profile *before = open_counted(argv + first);
    struct profile *after = open_counted(argv + first + 1);
    struct arena arena = {0};
    options.arena = &arena;
    struct comparison comparison = compare_profiles(&arena, before, after);
    size_t count = comparison.count - (options.all ? 0 : comparison.unchanged);
    count = count < options.limit ? count : options.limit;
    options.format->write(&comparison, count, &options);
    if (fflush(stdout) != 0 || ferror(stdout))
        die("cannot write the comparison: %s", strerror(errno ? errno : EIO));
    double growth = delta_percent(comparison.instructions);
    bool failed = growth > options.fail_above;
    if (failed)
        error("instructions executed grew by %.4f%%, more than the %.4f%% allowed", growth,
              options.fail_above);
    arena_release(&arena);
    profile_close(after);
    profile_close(before);
    return failed;
}
