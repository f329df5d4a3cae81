/* report.c: quipu report [OPTIONS] [DATA...]: counts as a table. */
#include "cmd/cmd.h"

#include "report/output.h"
#include "report/progress.h"
#include "report/style.h"
#include "report/view.h"
#include "util/diag.h"

#include <errno.h>
#include <getopt.h>
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
    bool only_executed, only_never;
    double min_share; /* from 0 to 1 */
    uint32_t pid;     /* 0: all processes */
    uint32_t thread;  /* 0: all threads */
    struct view_filter filter;
};

static void print_help(void) {
    fputs("usage: quipu report [OPTIONS] [DATA...]\n\n"
          "Prints the counts of DATA (data files or directories of them; $QUIPU_DATA or\n"
          "quipu.data), added up over all processes.  A program that still runs is read as it\n"
          "stands.\n\n"
          "      --by=VIEW            what a row is:\n",
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
          "      --human              short numbers: 1.23G\n"
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

static double parse_percent(const char *word) {
    char *end;
    double value = strtod(word, &end);
    if (end == word || *end || !(value >= 0 && value <= 100))
        die("'--min-percent=%s': give a number from 0 to 100", word);
    return value / 100;
}

static const struct view *parse_view(const char *word) {
    const struct view *view = find_view(word);
    if (!view)
        die("'--by=%s': no such view; 'quipu report --help' lists them", word);
    return view;
}

static const struct table_format *parse_format(const char *word) {
    const struct table_format *format = find_table_format(word);
    if (!format)
        die("'--format=%s': no such format; give text, json or csv", word);
    return format;
}

enum option_number {
    OPTION_BY = 256,
    OPTION_FORMAT,
    OPTION_SORT,
    OPTION_LIMIT,
    OPTION_FUNCTION,
    OPTION_FILE,
    OPTION_MODULE,
    OPTION_PROCESS,
    OPTION_THREAD,
    OPTION_MIN_PERCENT,
    OPTION_EXECUTED,
    OPTION_NEVER_EXECUTED,
    OPTION_HUMAN,
    OPTION_COLOR,
};

static const struct option option_names[] = {
    {"by", required_argument, NULL, OPTION_BY},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"function", required_argument, NULL, OPTION_FUNCTION},
    {"file", required_argument, NULL, OPTION_FILE},
    {"module", required_argument, NULL, OPTION_MODULE},
    {"process", required_argument, NULL, OPTION_PROCESS},
    {"thread", required_argument, NULL, OPTION_THREAD},
    {"min-percent", required_argument, NULL, OPTION_MIN_PERCENT},
    {"executed", no_argument, NULL, OPTION_EXECUTED},
    {"never-executed", no_argument, NULL, OPTION_NEVER_EXECUTED},
    {"human", no_argument, NULL, OPTION_HUMAN},
    {"color", optional_argument, NULL, OPTION_COLOR},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* WORD is the option as it was given. */
static void set_option(struct report_options *options, int option, const char *word) {
    switch (option) {
    case OPTION_BY:
        options->view = parse_view(optarg);
        break;
    case OPTION_FORMAT:
        options->format = parse_format(optarg);
        break;
    case OPTION_SORT:
        options->sort = optarg;
        break;
    case OPTION_LIMIT:
        options->limit = parse_number("limit", optarg, SIZE_MAX);
        break;
    case OPTION_FUNCTION:
        options->filter.function = optarg;
        break;
    case OPTION_FILE:
        options->filter.file = optarg;
        break;
    case OPTION_MODULE:
        options->filter.module = optarg;
        break;
    case OPTION_PROCESS:
        options->pid = (uint32_t)parse_number("process", optarg, UINT32_MAX);
        break;
    case OPTION_THREAD:
        options->thread = (uint32_t)parse_number("thread", optarg, UINT32_MAX);
        break;
    case OPTION_MIN_PERCENT:
        options->min_share = parse_percent(optarg);
        break;
    case OPTION_EXECUTED:
        options->only_executed = true;
        break;
    case OPTION_NEVER_EXECUTED:
        options->only_never = true;
        break;
    case OPTION_HUMAN:
        options->human = true;
        break;
    case OPTION_COLOR:
        options->color = optarg ? optarg : "always";
        break;
    case 'o':
        options->output = optarg;
        break;
    default:
        die("'%s': no such option, or its value is missing; 'quipu report --help' lists them",
            word);
    }
}

/* Returns false where only help was asked for. */
static bool parse_options(int argc, char **argv, struct report_options *options) {
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "o:h", option_names, NULL)) != -1) {
        if (option == 'h') {
            print_help();
            return false;
        }
        set_option(options, option, argv[optind - 1]);
    }
    return true;
}

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

static bool has_thread(const struct profile *profile, struct selection selection) {
    for (size_t i = 0; i < profile->processes.count; i++) {
        const struct process *process = &profile->processes.data[i];
        for (size_t j = 0; j < process->threads.count; j++)
            if ((!selection.process || selection.process == process) &&
                process->threads.data[j].owner == selection.owner)
                return true;
    }
    return false;
}

/* "/home/u/max 20: 3 processes, 5 threads, 1234 instructions executed". */
static const char *make_heading(struct arena *arena, const struct profile *profile,
                                struct selection selection, uint64_t executed, bool human) {
    uint64_t threads = 0;
    size_t count = 0;
    const struct process *first = NULL;
    for (size_t i = 0; i < profile->processes.count; i++) {
        const struct process *process = &profile->processes.data[i];
        if (selection.process && selection.process != process)
            continue;
        first = first ? first : process;
        threads += selection.owner ? 1 : count_threads(process);
        count++;
    }
    char number[NUMBER_MAX];
    print_number(number, executed, human);
    return arena_print(arena,
                       "%s%s: %zu process%s, %" PRIu64 " thread%s, %s instructions executed\n",
                       !first            ? "nothing"
                       : *first->command ? first->command
                                         : first->program,
                       count > 1 ? " and others" : "", count, count == 1 ? "" : "es", threads,
                       threads == 1 ? "" : "s", number);
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
    if (sort && !table_sort(table, sort)) {
        char names[512] = "";
        for (size_t i = 0; i < table->shape->column_count; i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), " %s",
                     table->shape->columns[i].name);
        die("'--sort=%s': no such column; there are:%s", sort, names);
    }
}

static void write_table(const struct table *table, const struct report_options *options) {
    FILE *out = begin_output(options->output);
    struct table_style style = {
        .out = out, .human = options->human, .color = parse_color(options->color, out)};
    table_write(table, options->format, &style, options->limit);
    end_output(out, options->output);
}

int cmd_report(int argc, char **argv) {
    struct report_options options = {
        .view = &view_function, .format = &table_text, .output = "-", .color = "auto"};
    if (!parse_options(argc, argv, &options))
        return 0;
    struct arena arena = {0};
    show_progress();
    struct profile *profile = profile_open(argv + optind, (size_t)(argc - optind));
    struct selection selection = find_selection(profile, &options);
    if (selection.owner && !has_thread(profile, selection))
        die("thread %" PRIu32 ": none of the data is of it; 'quipu report --by=thread' lists them",
            selection.owner);
    profile_count(profile, selection);
    struct table table = {.arena = &arena, .shape = options.view->shape};
    struct view_input input = {.arena = &arena,
                               .profile = profile,
                               .selection = selection,
                               .filter = options.filter,
                               .table = &table,
                               .executed = profile->executed};
    options.view->collect(&input);
    table.heading = make_heading(&arena, profile, selection, input.executed, options.human);
    drop_rows(&table, &options);
    sort_rows(&table, &options);
    write_table(&table, &options);
    profile_close(profile);
    arena_release(&arena);
    return 0;
}
