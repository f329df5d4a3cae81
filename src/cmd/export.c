/* export.c: quipu export --to=FORMAT [-o FILE] [DATA...|TRACE]: counts and traces for other tools.
 */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/export_trace.h"
#include "cmd/jobs.h"
#include "cmd/recorded_data.h"

#include "report/export.h"
#include "report/output.h"
#include "report/progress.h"
#include "report/source_paths.h"
#include "util/diag.h"
#include "util/near.h"
#include "util/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATHS_MOST = 2000000 /* of calls, with a root for each thread */
};

struct export_options {
    const char *to; /* name of the format */
    const struct export_format *format;
    struct trace_selection selection; /* of a trace */
    unsigned jobs;                    /* processes, for a trace; 0: not given */
    const char *output;               /* "-": standard output */
    const char *source_root;          /* as given; NULL: not given */
    const char *gcovr_format;
    bool lines_only;
};

static void print_help(void) {
    fputs(
        "usage: quipu export --to=FORMAT [-o FILE] [--source-root=DIR] [DATA...]\n\n"
        "Writes the counts of DATA (data files or directories of them; $QUIPU_DATA or quipu.data)\n"
        "for another tool, added up over all processes; or what a trace of 'quipu trace' has,\n"
        "thread by thread.\n\nformats for counts:\n",
        stdout);
    for (size_t i = 0; i < export_format_count; i++)
        printf("  %-10s %s\n", export_formats[i].name, export_formats[i].help);
    fputs("\nformats for traces:\n", stdout);
    for (size_t i = 0; i < trace_export_count; i++)
        printf("  %-10s %s\n", trace_exports[i].name, trace_exports[i].help);
    fputs(
        "\noptions:\n"
        "  -o, --output=FILE      write there, compressed where the name ends in .gz; - is\n"
        "                         standard output, the default; html: DIR/ puts source and\n"
        "                         assembly of any size into files beside the page\n"
        "      --source-root=DIR  lcov, cobertura, gcov-json, gcovr: only source files below\n"
        "                         DIR; but for lcov, named relative to it\n"
        "      --positions=line   callgrind: costs by line, without addresses, jumps and files of\n"
        "                         inlined code, for readers such as speedscope\n"
        "      --gcovr-format=V   gcovr: the version of its format (0.3: gcovr 5.2; 0.6: 7.2;\n"
        "                         0.15: 8.7); that of the installed gcovr is the default\n"
        "      --expand           of a trace: what memcpy, read and the like accessed as words\n"
        "                         of 8 bytes\n"
        "      --layout=BINARY    of a trace: addresses of instructions as in BINARY, the same\n"
        "                         code built without quipu\n"
        "      --process=PID      of a trace: only this process\n"
        "      --thread=TID       of a trace: only this thread\n"
        "      --part=I/N         of a trace: only part I of the N parts of each thread\n"
        "      --jobs=N           of a trace: divide the work between N processes; the output is\n"
        "                         the same\n",
        stdout);
}

static void take_process(void *options, const char *word) {
    ((struct export_options *)options)->selection.process =
        (uint32_t)read_number("process", word, UINT32_MAX);
}

static void take_part(void *options, const char *word) {
    struct trace_selection *selection = &((struct export_options *)options)->selection;
    read_part(&selection->part, &selection->parts, word);
}

static void take_jobs(void *options, const char *word) {
    ((struct export_options *)options)->jobs = read_jobs(word);
}

static void take_thread(void *options, const char *word) {
    ((struct export_options *)options)->selection.thread =
        (uint32_t)read_number("thread", word, UINT32_MAX);
}

static const char *position_at(size_t i) {
    static const char *const positions[] = {"instr", "line"};
    return i < sizeof positions / sizeof *positions ? positions[i] : NULL;
}

static void take_positions(void *options, const char *name) {
    ((struct export_options *)options)->lines_only =
        choose_name("--positions", "kind of position", name, position_at) == 1;
}

static const struct option_row rows[] = {
    {"to", 0, OPTION_TEXT, offsetof(struct export_options, to), NULL},
    {"output", 'o', OPTION_TEXT, offsetof(struct export_options, output), NULL},
    {"positions", 0, OPTION_PARSED, 0, take_positions},
    {"gcovr-format", 0, OPTION_TEXT, offsetof(struct export_options, gcovr_format), NULL},
    {"expand", 0, OPTION_FLAG, offsetof(struct export_options, selection.expand), NULL},
    {"part", 0, OPTION_PARSED, 0, take_part},
    {"jobs", 0, OPTION_PARSED, 0, take_jobs},
    {"layout", 0, OPTION_LIST, offsetof(struct export_options, selection.layouts), NULL},
    {"process", 0, OPTION_PARSED, 0, take_process},
    {"thread", 0, OPTION_PARSED, 0, take_thread},
    {"source-root", 0, OPTION_TEXT, offsetof(struct export_options, source_root), NULL},
};

static const struct command_line command_line = {"export", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

static bool any_file_below(struct arena *arena, const struct profile *profile, const char *root) {
    const char **files = source_files(arena, profile, root);
    for (size_t i = 1; i < profile->files.count; i++)
        if (files[i])
            return true;
    return false;
}

/* Returns ROOT as the program's debug information spells it: below the working directory, as text,
 * or with its links followed. Ends the program with an error if no source file is below it. */
static const char *find_source_root(struct arena *arena, const struct profile *profile,
                                    const char *root) {
    char *real = realpath(root, NULL);
    char *directory = getcwd(NULL, 0);
    if (!real || !directory)
        die("'%s': %s; give a directory that is there as --source-root", root, strerror(errno));
    const char *shell = getenv("PWD"); /* with the symbolic links of the user's path */
    const char *spellings[] = {
        *root == '/' ? root : arena_print(arena, "%s/%s", directory, root),
        *root == '/' || !shell ? root : arena_print(arena, "%s/%s", shell, root),
        real,
    };
    const char *found = NULL;
    for (size_t i = 0; !found && i < sizeof spellings / sizeof *spellings; i++) {
        const char *spelling = normalize_path(arena, spellings[i]);
        if (any_file_below(arena, profile, spelling))
            found = spelling;
    }
    if (!found)
        die("'%s': no source file of the program lies below it; '%s' is one that it has", root,
            profile->files.data[1]);
    free(real);
    free(directory);
    return found;
}

/* Ends the program with an error if the export would be empty: other tools refuse that. */
static void need_content(const struct profile *profile, const struct export_format *format,
                         const struct contexts *contexts) {
    if (!contexts)
        profile_need_counts(profile);
    if (format->of_lines && profile->files.count <= 1) /* file 0 means none */
        die("no line has counts: the program has no debug information; compile with -g");
}

static bool names_directory(const char *path) {
    size_t length = strlen(path);
    return length && path[length - 1] == '/';
}

/* Makes the directory PATH for FORMAT if it is not there. Returns the path of the page in it. */
static const char *page_in_directory(struct arena *arena, const struct export_format *format,
                                     const char *path) {
    if (!format->many_files)
        die("'%s' is a directory, and --to=%s writes one file; give its name", path, format->name);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        die("cannot make the directory '%s': %s", path, strerror(errno));
    return arena_print(arena, "%sindex.html", path);
}

/* Whether each thread's calls stay apart, if the format shows them so. Together they may have more
 * paths than a reader can show: 350 processes of an interpreter have a hundred million. */
static bool keeps_threads(const struct profile *profile, const struct export_format *format) {
    uint64_t paths = 0;
    for (size_t i = 0; i < profile->processes.count; i++)
        paths += contexts_count(&profile->processes.data[i]);
    if (format->by_thread && paths > PATHS_MOST)
        warn("the calls of all threads are added up, because apart they have %" PRIu64
             " paths; export less data to see threads",
             paths);
    return format->by_thread && paths <= PATHS_MOST;
}

/* Chooses the format of counts. Options of traces are errors. */
static void choose_format(struct export_options *options) {
    if (find_trace_export(options->to) && strcmp(options->to, "json") != 0)
        die("--to=%s writes a trace; name one, as 'quipu trace' records it", options->to);
    if (options->selection.process || options->selection.thread || options->selection.parts)
        die("--process, --thread and --part select from a trace; counts are added up over all");
    if (options->jobs)
        die("--jobs is for a trace; leave it out");
    if (options->selection.layouts.count)
        die("--layout is for a trace; counts have the addresses of their binary");
    options->format = choose_export_format(options->to);
}

/* Options of counts are errors. */
static int export_one_trace(const struct export_options *options, char **paths, size_t count) {
    if (count != 1)
        die("a trace is exported alone; name one file");
    if (options->source_root || options->gcovr_format || options->lines_only)
        die("'%s' is a trace; --source-root, --positions and --gcovr-format are for counts",
            paths[0]);
    return export_trace(paths[0], options->to, options->selection, options->jobs, options->output);
}

static void export_counts(struct export_options *options, char **paths, size_t count) {
    struct arena arena = {0};
    take_recorded_data(paths, count);
    show_progress();
    struct profile *profile = profile_open(paths, count);
    profile_count(profile, (struct selection){0});
    struct export_input input = {.profile = profile,
                                 .version = QUIPU_VERSION,
                                 .lines_only = options->lines_only,
                                 .gcovr_format = options->gcovr_format};
    struct contexts contexts = {0};
    bool by_thread = keeps_threads(profile, options->format);
    if (options->format->calls == EXPORT_CALLS_ONLY)
        contexts_need(profile, (struct selection){0}, by_thread, &contexts);
    else if (options->format->calls == EXPORT_CALLS)
        contexts_read(profile, (struct selection){0}, by_thread, &contexts);
    input.contexts = contexts.trees ? &contexts : NULL;
    need_content(profile, options->format, input.contexts);
    if (options->source_root)
        input.source_root = find_source_root(&arena, profile, options->source_root);
    if (names_directory(options->output)) {
        input.directory = options->output;
        options->output = page_in_directory(&arena, options->format, options->output);
    }
    FILE *out = options->format->compressed ? begin_plain_output(options->output)
                                            : begin_raw_output(options->output);
    options->format->write(&input, out);
    end_output(out, options->output);
    contexts_release(&contexts);
    profile_close(profile);
    arena_release(&arena);
}

int cmd_export(int argc, char **argv) {
    struct export_options options = {.output = "-"};
    int first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    if (!options.to)
        die("no format was given; add --to=FORMAT, 'quipu export --help' lists them");
    for (int i = first; i < argc; i++)
        if (trace_is(argv[i]))
            return export_one_trace(&options, argv + first, (size_t)(argc - first));
    choose_format(&options);
    export_counts(&options, argv + first, (size_t)(argc - first));
    return 0;
}
