/* stat.c: quipu stat [OPTIONS] -- PROGRAM ARGS, --data DATA..., or --pid PID: exact event counts.
 *
 * The program runs with a data directory of its own, for the time being; then all processes that
 * it made are read.  What is printed goes to standard error, since standard output is the
 * program's; the exit status is the program's too. */
#include "cmd/stat.h"
#include "cmd/temporary_data.h"

#include "cmd/cmd.h"
#include "report/output.h"
#include "util/diag.h"
#include "util/process.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(void) {
    fputs("usage: quipu stat [OPTIONS] [--] PROGRAM [ARGS]\n"
          "       quipu stat [OPTIONS] --data [DATA...]\n"
          "       quipu stat [OPTIONS] --pid=PID\n\n"
          "Runs PROGRAM, which 'quipu cc --quipu=event' built, and prints how many events of each\n"
          "kind it had, exactly.  The exit status is the program's own.\n\n"
          "      --data             run nothing; read DATA (data files or directories of them;\n"
          "                         $QUIPU_DATA or quipu.data)\n"
          "  -p, --pid=PID          run nothing; stop process PID for a moment and read what it\n"
          "                         has had up to the instructions at which its threads stand\n"
          "      --baseline=FILE    compare with FILE, which --format=json -o FILE wrote earlier;\n"
          "                         exit with status 1 where a count grew\n"
          "      --max-growth=PERCENT\n"
          "                         by more than PERCENT; 0 unless given\n"
          "      --by=WHAT          process (default), thread or event\n"
          "      --format=FORMAT    text (default), json or csv\n"
          "      --sort=COLUMN      numbers from high to low, names from low to high;\n"
          "                         -COLUMN the other way round\n"
          "      --human            short numbers: 1.23G\n"
          "  -o, --output=FILE      write there instead of standard error\n"
          "      --help             print this\n",
          stdout);
}

/* ---- running and reading ---- */

/* Writes the counts to OUTPUT (NULL: standard error) and compares them.  Returns STATUS, or 1. */
static int show(struct profile *profile, const struct stat_options *options, const char *output,
                const struct baseline *baseline, int status) {
    FILE *out = output ? begin_output(output) : stderr;
    write_counts(profile, options, out);
    if (output)
        end_output(out, output);
    bool failed = baseline && check_growth(baseline, profile, options->human);
    return failed ? EXIT_FAILURE : status;
}

static int run_and_count(char **argv, const struct stat_options *options,
                         const struct baseline *baseline) {
    char *temporary = use_temporary_data("quipu-stat");
    int status = run_program(argv, NULL, 0, false);
    bool empty = rmdir(temporary) == 0;
    if (empty && status == 127) /* it never ran, and that was said */
        return status;
    if (empty)
        die("'%s': it counted nothing; build it with 'quipu cc --quipu=event'", argv[0]);
    char *paths[] = {temporary};
    struct profile *profile = profile_open(paths, 1);
    status = show(profile, options, options->output, baseline, status);
    profile_close(profile);
    return status;
}

static int count_data(struct profile *profile, const struct stat_options *options,
                      const struct baseline *baseline) {
    int status = show(profile, options, options->output ? options->output : "-", baseline, 0);
    profile_close(profile);
    return status;
}

/* ---- options ---- */

enum option_number {
    OPTION_DATA = 256,
    OPTION_BASELINE,
    OPTION_MAX_GROWTH,
    OPTION_BY,
    OPTION_FORMAT,
    OPTION_SORT,
    OPTION_HUMAN,
};

static const struct option option_names[] = {
    {"data", no_argument, NULL, OPTION_DATA},
    {"pid", required_argument, NULL, 'p'},
    {"baseline", required_argument, NULL, OPTION_BASELINE},
    {"max-growth", required_argument, NULL, OPTION_MAX_GROWTH},
    {"by", required_argument, NULL, OPTION_BY},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"human", no_argument, NULL, OPTION_HUMAN},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static enum stat_rows parse_rows(const char *word) {
    static const char *const words[] = {
        [ROWS_OF_PROCESSES] = "process",
        [ROWS_OF_THREADS] = "thread",
        [ROWS_OF_EVENTS] = "event",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0)
            return (enum stat_rows)i;
    die("'--by=%s': give process, thread or event", word);
}

static const struct table_format *parse_format(const char *word) {
    const struct table_format *format = find_table_format(word);
    if (!format)
        die("'--format=%s': no such format; give text, json or csv", word);
    return format;
}

/* Returns false where only help was asked for. */
static bool parse_options(int argc, char **argv, struct stat_options *options) {
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+o:p:h", option_names, NULL)) != -1) {
        switch (option) {
        case OPTION_DATA:
            options->data = true;
            break;
        case 'p':
            options->pid = optarg;
            break;
        case OPTION_BASELINE:
            options->baseline = optarg;
            break;
        case OPTION_MAX_GROWTH:
            options->max_growth = optarg;
            break;
        case OPTION_BY:
            options->rows = parse_rows(optarg);
            break;
        case OPTION_FORMAT:
            options->format = parse_format(optarg);
            break;
        case OPTION_SORT:
            options->sort = optarg;
            break;
        case OPTION_HUMAN:
            options->human = true;
            break;
        case 'o':
            options->output = optarg;
            break;
        case 'h':
            print_help();
            return false;
        default:
            die("'%s': no such option, or its value is missing; 'quipu stat --help' lists them",
                argv[optind - 1]);
        }
    }
    return true;
}

static void check_options(const struct stat_options *options, int words) {
    if (options->pid && (options->data || words))
        die("'--pid=%s': it reads a process that runs; leave out data and program", options->pid);
    if (options->pid && options->baseline)
        die("'--baseline=%s': it compares whole runs; leave out --pid", options->baseline);
    if (options->max_growth && !options->baseline)
        die("'--max-growth=%s': it needs --baseline", options->max_growth);
    if (!options->data && !options->pid && !words)
        die("no program to run; 'quipu stat --help' tells how");
}

static int count_process(const struct stat_options *options) {
    struct standing standing;
    int status = count_data(open_process(options->pid, &standing), options, NULL);
    arena_release(&standing.arena);
    return status;
}

int cmd_stat(int argc, char **argv) {
    struct stat_options options = {.format = &table_text};
    if (!parse_options(argc, argv, &options))
        return 0;
    check_options(&options, argc - optind);
    struct baseline *baseline =
        options.baseline ? read_baseline(options.baseline, options.max_growth) : NULL;
    int status = 0;
    if (options.pid)
        status = count_process(&options);
    else if (options.data)
        status =
            count_data(profile_open(argv + optind, (size_t)(argc - optind)), &options, baseline);
    else
        status = run_and_count(argv + optind, &options, baseline);
    if (baseline)
        free_baseline(baseline);
    return status;
}
