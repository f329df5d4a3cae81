/* diff.c: quipu diff A B: compares two runs or two builds, function by function or call by call.
 *
 * comparison.h describes which rows are matched. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/recorded_data.h"

#include "report/comparison_output.h"
#include "report/output.h"
#include "report/pager.h"
#include "report/progress.h"
#include "report/style.h"
#include "report/table.h"
#include "util/diag.h"
#include "util/near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the runs. */
struct run {
    struct profile *profile;
    struct contexts contexts; /* if they are compared */
};

struct diff_view {
    const char *name; /* as in --by=NAME */
    const char *help;
    bool of_calls;
    const char *unit, *headline; /* as in struct comparison_style */
    /* Compares calling contexts; NULL: compare functions by their own counts. */
    struct comparison (*compare)(struct arena *arena, const struct contexts *before,
                                 const struct contexts *after);
};

struct diff_format {
    const char *name;
    write_comparison *write;
};

struct diff_options {
    const struct diff_view *view; /* NULL: not given */
    const struct diff_format *format;
    const char *output;
    bool all;  /* also rows that did not change */
    bool wide; /* only for text: lines as long as they become */
    bool no_pager;
    enum name_style names;
    const char *color; /* only for text: when */
    bool human;        /* only for text: short numbers */
    size_t limit;      /* rows at most */
    double fail_above; /* percent; infinite: never */
};

enum {
    BY_FUNCTION,
    BY_INCLUSIVE,
    BY_CALLSITE,
    VIEWS
};

static const struct diff_view views[VIEWS] = {
    [BY_FUNCTION] = {"function", "functions, what they executed themselves", false, "functions",
                     "function", NULL},
    [BY_INCLUSIVE] = {"inclusive", "functions, with all that they called (--quipu=calls)", false,
                      "functions", "function with all that it called", compare_inclusive},
    [BY_CALLSITE] = {"callsite", "calls from each place, the same (--quipu=calls)", true,
                     "call sites", "call with all that it executed", compare_calls},
};

static const struct diff_format formats[] = {
    {"text", write_comparison_text},
    {"json", write_comparison_json},
    {"csv", write_comparison_csv},
    {"html", write_comparison_html},
};

/* ---- options ---- */

static void print_help(void) {
    fputs("usage: quipu diff [OPTIONS] BEFORE AFTER\n\n"
          "Compares two runs or the runs of two builds, row by row, the largest difference in\n"
          "instructions executed first.  BEFORE and AFTER are each a data file or a directory\n"
          "of them.\n\noptions:\n"
          "  --by=VIEW             what a row is; where it is not given the first that both\n"
          "                        have counts for:\n",
          stdout);
    for (size_t i = 0; i < VIEWS; i++)
        printf("               %-10s %s\n", views[i].name, views[i].help);
    fputs("  --format=text|json|csv|html\n"
          "                        html: a page for a browser, with all rows\n"
          "  --to=FORMAT           the same\n"
          "  -o, --output=FILE     write there, compressed where the name ends in .gz\n"
          "  --limit=N             show N rows at most\n"
          "  --all                 show what did not change, too\n"
          "  --fail-above=PERCENT  exit with status 1 where instructions executed, of all\n"
          "                        functions, grew by more than that\n"
          "  --names=short|full|mangled\n"
          "                        text: names of C++ functions; short is without long arguments\n"
          "                        of templates\n"
          "  --human               text: short numbers, 1.23G\n"
          "  --wide                text: lines as long as they become; otherwise they fit the\n"
          "                        terminal, or COLUMNS\n"
          "  --no-pager            a terminal gets all at once, not by QUIPU_PAGER\n"
          "  --color=auto|always|never\n",
          stdout);
}

static const char *view_name_at(size_t i) {
    return i < VIEWS ? views[i].name : NULL;
}

static const char *format_name_at(size_t i) {
    return i < sizeof formats / sizeof *formats ? formats[i].name : NULL;
}

static void take_view(void *options, const char *name) {
    ((struct diff_options *)options)->view =
        &views[choose_name("--by", "view", name, view_name_at)];
}

static void take_format(void *options, const char *name) {
    ((struct diff_options *)options)->format =
        &formats[choose_name("--format", "format", name, format_name_at)];
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

static void take_names(void *options, const char *word) {
    ((struct diff_options *)options)->names = choose_name_style(word);
}

static const struct option_row rows[] = {
    {"by", 0, OPTION_PARSED, 0, take_view},
    {"format", 0, OPTION_PARSED, 0, take_format},
    {"to", 0, OPTION_PARSED, 0, take_format},
    {"output", 'o', OPTION_TEXT, offsetof(struct diff_options, output), NULL},
    {"limit", 0, OPTION_PARSED, 0, take_limit},
    {"all", 0, OPTION_FLAG, offsetof(struct diff_options, all), NULL},
    {"fail-above", 0, OPTION_PARSED, 0, take_percent},
    {"color", 0, OPTION_WHEN, offsetof(struct diff_options, color), NULL},
    {"names", 0, OPTION_PARSED, 0, take_names},
    {"human", 0, OPTION_FLAG, offsetof(struct diff_options, human), NULL},
    {"no-pager", 0, OPTION_FLAG, offsetof(struct diff_options, no_pager), NULL},
    {"wide", 0, OPTION_FLAG, offsetof(struct diff_options, wide), NULL},
};

static const struct command_line command_line = {"diff", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

/* ---- comparing ---- */

static void open_run(struct run *run, char *const *path) {
    run->profile = profile_open(path, 1);
    profile_count(run->profile, (struct selection){0});
}

static void close_run(struct run *run) {
    contexts_release(&run->contexts);
    profile_close(run->profile);
}

static bool has_contexts(const struct run *run) {
    return contexts_here(run->profile, (struct selection){0});
}

static const struct diff_view *choose_view(const struct run runs[SIDES]) {
    bool counts =
        profile_has_counts(runs[BEFORE].profile) && profile_has_counts(runs[AFTER].profile);
    bool contexts = has_contexts(&runs[BEFORE]) && has_contexts(&runs[AFTER]);
    return &views[!counts && contexts ? BY_INCLUSIVE : BY_FUNCTION];
}

static void need_counts(const struct run *run, const char *path) {
    if (!profile_has_counts(run->profile))
        die("'%s': it holds no counts of functions; build the program with 'quipu cc "
            "--quipu=count'%s and run it again",
            path, has_contexts(run) ? ", or '--quipu=count,calls'," : "");
}

static struct comparison compare_runs(struct arena *arena, const struct diff_view *view,
                                      struct run runs[SIDES], char *const *paths) {
    if (!view->compare) {
        for (int i = 0; i < SIDES; i++)
            need_counts(&runs[i], paths[i]);
        return compare_profiles(arena, runs[BEFORE].profile, runs[AFTER].profile);
    }
    for (int i = 0; i < SIDES; i++)
        contexts_need(runs[i].profile, (struct selection){0}, false, &runs[i].contexts);
    return view->compare(arena, &runs[BEFORE].contexts, &runs[AFTER].contexts);
}

static void write_result(struct arena *arena, const struct comparison *comparison,
                         const struct diff_options *options, char *const *paths) {
    FILE *out = begin_output(options->output);
    const struct comparison_style style = {
        .out = out,
        .arena = arena,
        .by = options->view->name,
        .of_calls = options->view->of_calls,
        .unit = options->view->unit,
        .headline = options->view->headline,
        .sides = {paths[BEFORE], paths[AFTER]},
        .version = QUIPU_VERSION,
        .names = options->names,
        .color = parse_color(options->color, out),
        .human = options->human,
        .width = options->wide ? 0 : table_width(out),
    };
    bool all = options->all || options->format->write == write_comparison_html;
    size_t count = comparison->count - (all ? 0 : comparison->unchanged);
    if (!options->no_pager)
        start_pager(out);
    options->format->write(comparison, count < options->limit ? count : options->limit, &style);
    end_output(out, options->output);
}

int cmd_diff(int argc, char **argv) {
    struct diff_options options = {
        .format = formats,
        .output = "-",
        .color = "auto",
        .limit = SIZE_MAX,
        .fail_above = INFINITY,
    };
    int first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    if (argc - first != 2)
        die("two runs are needed: quipu diff BEFORE AFTER");
    show_progress();
    struct arena arena = {0};
    struct run runs[SIDES] = {0};
    take_recorded_data(argv + first, 2);
    for (int i = 0; i < SIDES; i++)
        open_run(&runs[i], argv + first + i);
    if (!options.view)
        options.view = choose_view(runs);
    struct comparison comparison = compare_runs(&arena, options.view, runs, argv + first);
    write_result(&arena, &comparison, &options, argv + first);
    double growth = delta_percent(comparison.instructions);
    bool failed = growth > options.fail_above;
    if (failed)
        error("instructions executed grew by %.4f%%, more than the %.4f%% allowed", growth,
              options.fail_above);
    arena_release(&arena);
    for (int i = 0; i < SIDES; i++)
        close_run(&runs[i]);
    return failed;
}
