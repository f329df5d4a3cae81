/* report.c: quipu report [OPTIONS] [DATA...]: counts as a table. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/recorded_data.h"

#include "data/calls.h"
#include "report/output.h"
#include "report/pager.h"
#include "report/patterns.h"
#include "report/programs.h"
#include "report/progress.h"
#include "report/style.h"
#include "report/view.h"
#include "util/diag.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct report_options {
    const struct view *view;
    const struct table_format *format;
    const char *sort; /* NULL: the view's own */
    size_t limit;     /* rows; 0: all */
    const char *output;
    const char *color;
    bool human;
    bool wide;
    bool no_pager;
    bool only_executed, only_never;
    double min_share; /* from 0 to 1 */
    uint32_t pid;     /* 0: all processes */
    uint32_t thread;  /* 0: all threads */
    struct view_filter filter;
    enum name_style names;
};

static void print_help(void) {
    fputs("usage: quipu report [OPTIONS] [DATA...]\n\n"
          "Prints the counts of DATA (data files or directories of them; $QUIPU_DATA or\n"
          "quipu.data), added up over all processes.  A program that still runs is read as it\n"
          "stands, and a recording ('quipu record') as it ended.\n\n"
          "      --by=VIEW            what a row is (function; callsite where only calls\n"
          "                           were recorded):\n",
          stdout);
    const struct view *view;
    for (size_t i = 0; (view = view_at(i)); i++)
        printf("             %-12s %s%s\n", view->name, view->help,
               view == &view_function ? " (default)" : "");
    fputs("      --format=FORMAT      text (default), json or csv\n"
          "      --sort=COLUMN        numbers from high to low, names from low to high;\n"
          "                           -COLUMN the other way round\n"
          "      --limit=N            the first N rows\n"
          "      --function=PATTERN   only functions of that name (*, ? and [] as in a shell)\n"
          "      --file=PATTERN       only code of that source file\n"
          "      --module=PATTERN     only code of that executable or shared object\n"
          "      --process=PID        only that process\n"
          "      --thread=TID         only that thread\n"
          "      --min-percent=P      only rows with at least P percent of all instructions\n"
          "      --executed           only rows that were executed\n"
          "      --never-executed     only rows that never were\n"
          "      --names=FORM         text: names of C++ functions: short (default: without long\n"
          "                           arguments of templates), full or mangled\n"
          "      --human              short numbers: 1.23G\n"
          "      --wide               text: lines as long as they become; otherwise they fit the\n"
          "                           terminal, or COLUMNS\n"
          "      --no-pager           a terminal gets all at once, not by QUIPU_PAGER\n"
          "      --color=WHEN         auto (default), always or never\n"
          "  -o, --output=FILE        write there, compressed where the name ends in .gz\n",
          stdout);
}

/* ---- options ---- */

static uint64_t parse_number(const char *option, const char *word, uint64_t limit) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    if (errno || end == word || *end || *word == '-' || value > limit)
        die("'--%s=%s': give a whole number up to %" PRIu64, option, word, limit);
    return value;
}

static void take_view(void *options, const char *word) {
    ((struct report_options *)options)->view = choose_view(word);
}

static void take_format(void *options, const char *word) {
    ((struct report_options *)options)->format = choose_table_format(word);
}

static void take_limit(void *options, const char *word) {
    ((struct report_options *)options)->limit = parse_number("limit", word, SIZE_MAX);
}

static void take_process(void *options, const char *word) {
    ((struct report_options *)options)->pid = (uint32_t)parse_number("process", word, UINT32_MAX);
}

static void take_thread(void *options, const char *word) {
    ((struct report_options *)options)->thread = (uint32_t)parse_number("thread", word, UINT32_MAX);
}

static void take_names(void *options, const char *word) {
    ((struct report_options *)options)->names = choose_name_style(word);
}

static void take_percent(void *options, const char *word) {
    char *end;
    double value = strtod(word, &end);
    if (end == word || *end || !(value >= 0 && value <= 100))
        die("'--min-percent=%s': give a number from 0 to 100", word);
    ((struct report_options *)options)->min_share = value / 100;
}

#define FIELD(name) offsetof(struct report_options, name)

static const struct option_row rows[] = {
    {"by", 0, OPTION_PARSED, 0, take_view},
    {"format", 0, OPTION_PARSED, 0, take_format},
    {"sort", 0, OPTION_TEXT, FIELD(sort), NULL},
    {"limit", 0, OPTION_PARSED, 0, take_limit},
    {"function", 0, OPTION_LIST, FIELD(filter.functions), NULL},
    {"file", 0, OPTION_LIST, FIELD(filter.files), NULL},
    {"module", 0, OPTION_LIST, FIELD(filter.modules), NULL},
    {"process", 0, OPTION_PARSED, 0, take_process},
    {"thread", 0, OPTION_PARSED, 0, take_thread},
    {"min-percent", 0, OPTION_PARSED, 0, take_percent},
    {"executed", 0, OPTION_FLAG, FIELD(only_executed), NULL},
    {"never-executed", 0, OPTION_FLAG, FIELD(only_never), NULL},
    {"names", 0, OPTION_PARSED, 0, take_names},
    {"human", 0, OPTION_FLAG, FIELD(human), NULL},
    {"wide", 0, OPTION_FLAG, FIELD(wide), NULL},
    {"no-pager", 0, OPTION_FLAG, FIELD(no_pager), NULL},
    {"color", 0, OPTION_WHEN, FIELD(color), NULL},
    {"output", 'o', OPTION_TEXT, FIELD(output), NULL},
};

static const struct command_line command_line = {"report", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

/* ---- the table ---- */

static struct selection find_selection(const struct profile *profile,
                                       const struct report_options *options) {
    struct selection selection = {.owner = options->thread};
    if (!options->pid)
        return selection;
    for (size_t i = 0; i < profile->processes.count; i++) {
        if (profile->processes.data[i].pid != options->pid)
            continue;
        if (selection.process)
            die("process %" PRIu32 ": '%s' and '%s' are both of it; name one of them", options->pid,
                selection.process->file, profile->processes.data[i].file);
        selection.process = &profile->processes.data[i];
    }
    if (!selection.process)
        die("process %" PRIu32
            ": none of the data is of it; 'quipu report --by=process' lists them",
            options->pid);
    return selection;
}

static bool any_selected(const struct profile *profile, struct selection selection) {
    for (size_t i = 0; i < profile->processes.count; i++)
        if (selects(selection, &profile->processes.data[i]))
            return true;
    return false;
}

/* Sets the heading: "/home/u/max 20: 3 processes, 5 threads, 1234 instructions executed", for
 * example. */
static void set_heading(struct table *table, const struct profile *profile,
                        struct selection selection, uint64_t executed, bool human) {
    struct arena *arena = table->arena;
    uint64_t threads = 0;
    for (size_t i = 0; i < profile->processes.count; i++) {
        const struct process *process = &profile->processes.data[i];
        if (!selects(selection, process))
            continue;
        threads += selection.owner ? 1 : count_threads(process);
    }
    char number[NUMBER_MAX];
    print_number(number, executed, human);
    const char *left_out = profile->left_out.count ? arena_print(arena, ", %zu data files left out",
                                                                 profile->left_out.count)
                                                   : "";
    table->subject = programs_text(arena, profile, selection);
    table->heading = arena_print(arena, ": %s, %" PRIu64 " thread%s, %s instructions executed%s",
                                 processes_text(arena, profile, selection), threads,
                                 threads == 1 ? "" : "s", number, left_out);
}

static void drop_rows(struct table *table, const struct report_options *options) {
    size_t kept = 0;
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct row *row = &table->rows.data[i];
        if ((options->only_executed && !row->executed) || (options->only_never && row->executed) ||
            row->share < options->min_share)
            continue;
        table->rows.data[kept++] = *row;
    }
    table->rows.count = kept;
}

static void sort_rows(struct table *table, const struct report_options *options) {
    const char *sort = options->sort ? options->sort : table->shape->sort;
    if (sort)
        table_sort(table, sort);
}

static void write_table(const struct table *table, const struct report_options *options) {
    FILE *out = begin_output(options->output);
    struct table_style style = {.out = out,
                                .human = options->human,
                                .color = parse_color(options->color, out),
                                .width = options->wide ? 0 : table_width(out)};
    if (!options->no_pager)
        start_pager(out);
    table_write(table, options->format, &style, options->limit);
    end_output(out, options->output);
}

/* Returns the view of functions or, if the data has only calls, of call sites. */
static const struct view *default_view(const struct profile *profile) {
    if (!profile_has_counts(profile))
        for (size_t i = 0; i < profile->processes.count; i++)
            if (contexts_count(&profile->processes.data[i]))
                return &view_callsite;
    return &view_function;
}

static bool any_function_shown(const struct view_input *input) {
    for (size_t i = 0; i < input->profile->modules.count; i++) {
        const struct module *module = input->profile->modules.data[i];
        for (size_t j = 0; j < module->functions.count; j++)
            if (shows_function(input, &module->functions.data[j]))
                return true;
    }
    return false;
}

/* Ends the program with an error if nothing matches the patterns, or one of them. Callees that are
 * not instrumented are known to the view of calls alone. */
static void need_match(const struct view_input *input) {
    const struct view_filter *filter = &input->filter;
    bool calls = input->table->shape == view_callsite.shape;
    if (!filter->functions.count && !filter->files.count && !filter->modules.count)
        return;
    if (!input->table->rows.count)
        refuse_filter(input->profile, *filter);
    if (calls)
        return;
    need_matches(input->profile, *filter);
    if (filter->functions.count && !filter->files.count && profile_has_counts(input->profile) &&
        !any_function_shown(input))
        refuse_filter(input->profile, *filter);
}

int cmd_report(int argc, char **argv) {
    struct report_options options = {.format = &table_text, .output = "-", .color = "auto"};
    int first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    struct arena arena = {0};
    take_recorded_data(argv + first, (size_t)(argc - first));
    show_progress();
    struct profile *profile = profile_open(argv + first, (size_t)(argc - first));
    if (!options.view)
        options.view = default_view(profile);
    if (options.view->of_code)
        profile_need_counts(profile);
    if (profile_has_counts(profile) && options.view != &view_callsite)
        profile_warn_uncounted(profile);
    profile_hold(profile);
    struct selection selection = find_selection(profile, &options);
    if (selection.owner && !any_selected(profile, selection))
        die("thread %" PRIu32 ": none of the data is of it; 'quipu report --by=thread' lists them",
            selection.owner);
    profile_count(profile, selection);
    struct table table = {.arena = &arena, .shape = options.view->shape};
    struct view_input input = {.arena = &arena,
                               .profile = profile,
                               .selection = selection,
                               .filter = options.filter,
                               .names = options.names,
                               .table = &table,
                               .executed = profile->executed};
    options.view->collect(&input);
    need_match(&input);
    set_heading(&table, profile, selection, input.executed, options.human);
    drop_rows(&table, &options);
    sort_rows(&table, &options);
    write_table(&table, &options);
    profile_close(profile);
    arena_release(&arena);
    return 0;
}
