/* annotate.c: quipu annotate [OPTIONS] [FILE...]: source or assembly with counts. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/recorded_data.h"

#include "report/annotate.h"
#include "report/output.h"
#include "report/pager.h"
#include "report/progress.h"
#include "report/style.h"
#include "util/diag.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct annotate_options {
    struct arena arena;
    VECTOR(char *) data, sources;
    struct view_filter filter;
    const char *output, *color;
    enum name_style names;
    size_t hot, context;
    bool assembly, by_count, branches, human, no_pager;
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
        "      --names=FORM        names of C++ functions: short (default: without long arguments\n"
        "                          of templates and functions), full, mangled\n"
        "      --human             short numbers: 1.23G\n"
        "      --no-pager          a terminal gets all at once, not by QUIPU_PAGER\n"
        "      --color=WHEN        auto (default), always or never\n"
        "  -o, --output=FILE       write there, compressed where the name ends in .gz\n",
        stdout);
}

static size_t parse_lines(const char *option, const char *word, size_t least) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(word, &end, 10);
    if (errno || end == word || *end || *word == '-' || value < least || value > 1000000)
        die("'--%s=%s': give a number of lines from %zu to 1000000", option, word, least);
    return value;
}

static void take_data(void *options, const char *word) {
    struct annotate_options *annotate = options;
    vector_push(&annotate->arena, &annotate->data,
                arena_copy(&annotate->arena, word, strlen(word)));
}

static void take_source(void *options, const char *word) {
    struct annotate_options *annotate = options;
    DIR *directory = opendir(word);
    if (!directory)
        die("'--source=%s': %s", word, strerror(errno));
    closedir(directory);
    vector_push(&annotate->arena, &annotate->sources,
                arena_copy(&annotate->arena, word, strlen(word)));
}

static void take_hot(void *options, const char *word) {
    ((struct annotate_options *)options)->hot = parse_lines("hot", word, 1);
}

static void take_context(void *options, const char *word) {
    ((struct annotate_options *)options)->context = parse_lines("context", word, 0);
}

static void take_names(void *options, const char *word) {
    ((struct annotate_options *)options)->names = choose_name_style(word);
}

/* Ends the program with an error if one of FILES is data, which other commands take there, and not
 * a source file. */
static void refuse_data(char **files) {
    for (; *files; files++)
        if (profile_is_data(*files))
            die("'%s' is no source file; data is given by '--data=%s'", *files, *files);
}

#define FIELD(name) offsetof(struct annotate_options, name)

static const struct option_row rows[] = {
    {"data", 0, OPTION_PARSED, 0, take_data},
    {"asm", 0, OPTION_FLAG, FIELD(assembly), NULL},
    {"function", 0, OPTION_LIST, FIELD(filter.functions), NULL},
    {"module", 0, OPTION_LIST, FIELD(filter.modules), NULL},
    {"by-count", 0, OPTION_FLAG, FIELD(by_count), NULL},
    {"hot", 0, OPTION_PARSED, 0, take_hot},
    {"context", 0, OPTION_PARSED, 0, take_context},
    {"branches", 0, OPTION_FLAG, FIELD(branches), NULL},
    {"source", 0, OPTION_PARSED, 0, take_source},
    {"names", 0, OPTION_PARSED, 0, take_names},
    {"human", 0, OPTION_FLAG, FIELD(human), NULL},
    {"no-pager", 0, OPTION_FLAG, FIELD(no_pager), NULL},
    {"color", 0, OPTION_WHEN, FIELD(color), NULL},
    {"output", 'o', OPTION_TEXT, FIELD(output), NULL},
};

static const struct command_line command_line = {"annotate", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

int cmd_annotate(int argc, char **argv) {
    struct annotate_options options = {.output = "-", .color = "auto", .context = 2};
    int first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    if (options.assembly && (options.hot || options.branches))
        die("'--%s' goes with source, not with --asm; leave one out",
            options.hot ? "hot" : "branches");
    refuse_data(argv + first);
    take_recorded_data((char **)options.data.data, options.data.count);
    show_progress();
    struct profile *profile = profile_open(options.data.data, options.data.count);
    profile_need_counts(profile);
    profile_count(profile, (struct selection){0});
    FILE *out = begin_output(options.output);
    struct annotation annotation = {
        .arena = &options.arena,
        .profile = profile,
        .filter = options.filter,
        .files = argv + first,
        .file_count = (size_t)(argc - first),
        .sources =
            sources_start(&options.arena, profile, options.sources.data, options.sources.count),
        .out = out,
        .color = parse_color(options.color, out),
        .human = options.human,
        .names = options.names,
        .by_count = options.by_count,
        .branches = options.branches,
        .hot = options.hot,
        .context = options.context,
    };
    need_annotated(&annotation);
    if (!options.no_pager)
        start_pager(out);
    if (options.assembly)
        annotate_assembly(&annotation);
    else
        annotate_source(&annotation);
    end_output(out, options.output);
    profile_close(profile);
    arena_release(&options.arena);
    return 0;
}
