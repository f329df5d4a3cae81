/* annotate.c: quipu annotate [OPTIONS] [FILE...]: source or assembly with counts. */
#include "cmd/cmd.h"

#include "report/annotate.h"
#include "report/output.h"
#include "report/progress.h"
#include "report/style.h"
#include "util/diag.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct annotate_options {
    struct arena arena;
    VECTOR(char *) data, sources;
    struct view_filter filter;
    const char *output, *color;
    size_t hot, context;
    bool assembly, by_count, branches, human;
};

static void print_help(void) {
    fputs(
        "usage: quipu annotate [OPTIONS] [FILE...]\n\n"
        "Prints source files with counts: executions of each line, and instructions executed for\n"
        "it.  FILE is a source file, or a pattern of its name; none: all that have counts.\n"
        "##### marks lines that never ran.\n\n"
        "      --data=DATA         data file or directory of them; may be given again\n"
        "                          ($QUIPU_DATA or quipu.data)\n"
        "      --asm               assembly instead, with source lines between\n"
        "      --function=PATTERN  only functions of that name (*, ? and [] as in a shell)\n"
        "      --module=PATTERN    only code of that executable or shared object\n"
        "      --by-count          the most executed lines or functions first\n"
        "      --hot=N             only the N lines with the most instructions executed\n"
        "      --context=N         with --hot: N lines around each (2)\n"
        "      --branches          how often each branch of a line was taken\n"
        "      --source=DIR        look for source files below DIR too; may be given again\n"
        "      --human             short numbers: 1.23G\n"
        "      --color=WHEN        auto (default), always or never\n"
        "  -o, --output=FILE       write there, compressed where the name ends in .gz\n",
        stdout);
}

enum option_number {
    OPTION_DATA = 256,
    OPTION_ASM,
    OPTION_FUNCTION,
    OPTION_MODULE,
    OPTION_BY_COUNT,
    OPTION_HOT,
    OPTION_CONTEXT,
    OPTION_BRANCHES,
    OPTION_SOURCE,
    OPTION_HUMAN,
    OPTION_COLOR,
};

static const struct option option_names[] = {
    {"data", required_argument, NULL, OPTION_DATA},
    {"asm", no_argument, NULL, OPTION_ASM},
    {"function", required_argument, NULL, OPTION_FUNCTION},
    {"module", required_argument, NULL, OPTION_MODULE},
    {"by-count", no_argument, NULL, OPTION_BY_COUNT},
    {"hot", required_argument, NULL, OPTION_HOT},
    {"context", required_argument, NULL, OPTION_CONTEXT},
    {"branches", no_argument, NULL, OPTION_BRANCHES},
    {"source", required_argument, NULL, OPTION_SOURCE},
    {"human", no_argument, NULL, OPTION_HUMAN},
    {"color", optional_argument, NULL, OPTION_COLOR},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static size_t parse_lines(const char *option, const char *word, size_t least) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(word, &end, 10);
    if (errno || end == word || *end || *word == '-' || value < least || value > 1000000)
        die("'--%s=%s': give a number of lines from %zu to 1000000", option, word, least);
    return value;
}

/* WORD is the option as it was given. */
static void set_option(struct annotate_options *options, int option, const char *word) {
    switch (option) {
    case OPTION_DATA:
        vector_push(&options->arena, &options->data, optarg);
        break;
    case OPTION_ASM:
        options->assembly = true;
        break;
    case OPTION_FUNCTION:
        options->filter.function = optarg;
        break;
    case OPTION_MODULE:
        options->filter.module = optarg;
        break;
    case OPTION_BY_COUNT:
        options->by_count = true;
        break;
    case OPTION_HOT:
        options->hot = parse_lines("hot", optarg, 1);
        break;
    case OPTION_CONTEXT:
        options->context = parse_lines("context", optarg, 0);
        break;
    case OPTION_BRANCHES:
        options->branches = true;
        break;
    case OPTION_SOURCE:
        vector_push(&options->arena, &options->sources, optarg);
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
        die("'%s': no such option, or its value is missing; 'quipu annotate --help' lists them",
            word);
    }
}

/* Returns false where only help was asked for. */
static bool parse_options(int argc, char **argv, struct annotate_options *options) {
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "o:h", option_names, NULL)) != -1) {
        if (option == 'h') {
            print_help();
            return false;
        }
        set_option(options, option, argv[optind - 1]);
    }
    if (options->assembly && (options->hot || options->branches))
        die("'--%s' goes with source, not with --asm; leave one out",
            options->hot ? "hot" : "branches");
    return true;
}

int cmd_annotate(int argc, char **argv) {
    struct annotate_options options = {.output = "-", .color = "auto", .context = 2};
    if (!parse_options(argc, argv, &options))
        return 0;
    show_progress();
    struct profile *profile = profile_open(options.data.data, options.data.count);
    profile_count(profile, (struct selection){0});
    FILE *out = begin_output(options.output);
    struct annotation annotation = {
        .arena = &options.arena,
        .profile = profile,
        .filter = options.filter,
        .files = argv + optind,
        .file_count = (size_t)(argc - optind),
        .sources =
            sources_start(&options.arena, profile, options.sources.data, options.sources.count),
        .out = out,
        .color = parse_color(options.color, out),
        .human = options.human,
        .by_count = options.by_count,
        .branches = options.branches,
        .hot = options.hot,
        .context = options.context,
    };
    if (options.assembly)
        annotate_assembly(&annotation);
    else
        annotate_source(&annotation);
    end_output(out, options.output);
    profile_close(profile);
    arena_release(&options.arena);
    return 0;
}
