/* stat.c: quipu stat [OPTIONS] -- PROGRAM ARGS, --data DATA..., or --pid PID: exact event counts.
 *
 * The program runs with a temporary data directory. Then the data of all its processes is read. The
 * counts are printed to standard error, since standard output is the program's. The exit status is
 * the program's, too. */
#include "cmd/stat.h"
#include "cmd/temporary_data.h"

#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/recorded_data.h"
#include "cmd/recorded_run.h"
#include "report/output.h"
#include "util/diag.h"
#include "util/near.h"
#include "util/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(void) {
    fputs("usage: quipu stat [OPTIONS] [--] PROGRAM [ARGS]\n"
          "       quipu stat [OPTIONS] --data [DATA...]\n"
          "       quipu stat [OPTIONS] RECORDING\n"
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
          "      --wide             text: lines may be wider than the terminal\n"
          "  -o, --output=FILE      write there instead of standard error\n"
          "      --help             print this\n",
          stdout);
}

/* ---- running and reading ---- */

/* Writes the counts to OUTPUT (NULL: standard error), and compares them. Returns STATUS, or 1 if
 * they grew. */
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
    char *temporary = use_temporary_data("quipu-stat-");
    int status = run_program(argv, NULL, 0, false);
    bool empty = rmdir(temporary) == 0;
    if (empty && status == 127) /* it did not run, and a message was printed */
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

static const char *rows_name_at(size_t i) {
    static const char *const names[] = {
        [ROWS_OF_PROCESSES] = "process",
        [ROWS_OF_THREADS] = "thread",
        [ROWS_OF_EVENTS] = "event",
    };
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static void take_rows(void *options, const char *word) {
    ((struct stat_options *)options)->rows =
        (enum stat_rows)choose_name("--by", "view", word, rows_name_at);
}

static void take_format(void *options, const char *word) {
    ((struct stat_options *)options)->format = choose_table_format(word);
}

#define FIELD(name) offsetof(struct stat_options, name)

static const struct option_row rows[] = {
    {"data", 0, OPTION_FLAG, FIELD(data), NULL},
    {"pid", 'p', OPTION_TEXT, FIELD(pid), NULL},
    {"baseline", 0, OPTION_TEXT, FIELD(baseline), NULL},
    {"max-growth", 0, OPTION_TEXT, FIELD(max_growth), NULL},
    {"by", 0, OPTION_PARSED, 0, take_rows},
    {"format", 0, OPTION_PARSED, 0, take_format},
    {"sort", 0, OPTION_TEXT, FIELD(sort), NULL},
    {"human", 0, OPTION_FLAG, FIELD(human), NULL},
    {"wide", 0, OPTION_FLAG, FIELD(wide), NULL},
    {"output", 'o', OPTION_TEXT, FIELD(output), NULL},
};

static const struct command_line command_line = {"stat", print_help, rows,
                                                 sizeof rows / sizeof *rows, true};

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
    struct stopped_process stopped;
    int status = count_data(open_process(options->pid, &stopped), options, NULL);
    arena_release(&stopped.arena);
    return status;
}

/* Behind the data, unlike behind a program, there may be more options. Returns the index of the
 * first word of the data, or 0 if help was requested. */
static int take_more_options(int first, int argc, char **argv, struct stat_options *options) {
    struct command_line line = command_line;
    line.program_follows = false;
    if (strcmp(argv[first - 1], "--") == 0)
        return first;
    int further = take_options(&line, argc - first + 1, argv + first - 1, options);
    return further ? first - 1 + further : 0;
}

int cmd_stat(int argc, char **argv) {
    struct stat_options options = {.format = &table_text};
    int first = take_options(&command_line, argc, argv, &options);
    if (first && options.data)
        first = take_more_options(first, argc, argv, &options);
    if (!first)
        return 0;
    check_options(&options, argc - first);
    struct baseline *baseline =
        options.baseline ? read_baseline(options.baseline, options.max_growth) : NULL;
    int status = 0;
    if (!options.pid && !options.data)
        options.data = is_recorded_run(argv + first);
    if (options.data)
        take_recorded_data(argv + first, (size_t)(argc - first));
    if (options.pid)
        status = count_process(&options);
    else if (options.data)
        status = count_data(profile_open(argv + first, (size_t)(argc - first)), &options, baseline);
    else
        status = run_and_count(argv + first, &options, baseline);
    if (baseline)
        free_baseline(baseline);
    return status;
}
