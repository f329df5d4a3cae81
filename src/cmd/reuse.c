/* reuse.c: quipu reuse FILE: stack distances, the misses of caches of all sizes, and the working
 * set over time. */
#include "cmd/reuse.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/jobs.h"
#include "cmd/parts.h"
#include "cmd/trace_input.h"

#include "cache/reuse_part.h"
#include "cache/source.h"
#include "util/diag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_LEAST = 1,
    LINE_DEFAULT = 64,
    WINDOW_DEFAULT = 100000
};

static void print_help(void) {
    fputs(
        "usage: quipu reuse [OPTIONS] FILE\n"
        "       quipu reuse --merge [OPTIONS] FILE...\n\n"
        "Tells how many other lines were used since each reference's line was used last, for all\n"
        "references to data in FILE, which 'quipu trace' wrote.  That gives the misses of fully\n"
        "associative caches of every size at once.\n\n"
        "      --by=WHAT        what a row is: size (of a cache, in powers of two; the default),\n"
        "                       distance (each one that occurs), or window (the lines used in\n"
        "                       each window of time)\n"
        "      --line=BYTES     size of a line, a power of two (64)\n"
        "      --window=N       references in a window (100000)\n"
        "      --from=KIND      what FILE is: trace (default) or lackey, the text of 'valgrind\n"
        "                       --tool=lackey --trace-mem=yes'; standard input without FILE\n"
        "      --to=svg         write a picture of sizes and windows\n"
        "      --part=I/N       only part I of N: its result goes to the file of -o\n"
        "      --merge          FILE... are the results of all parts: print what they give together\n"
        "      --jobs=N         divide the work between N processes; the output is the same\n"
        "      --format=FORMAT  text (default), json or csv\n"
        "      --limit=N        the first N rows only\n"
        "      --human          short numbers: 1.23G\n"
        "  -o, --output=FILE    write there instead of standard output\n"
        "      --help           print this\n",
        stdout);
}

struct reuse_command {
    struct reuse_options options; /* line, window: 0: not given */
    struct part_options parts;
    const struct source_format *from;
    bool svg;
};

static uint64_t take_number(const char *option, const char *word, const char *what) {
    char *end;
    unsigned long long number = strtoull(word, &end, 10);
    if (*word < '0' || *word > '9' || *end || !number || number > SIZE_MAX / 2)
        die("'--%s=%s' is not a number of %s", option, word, what);
    return number;
}

static void take_line(void *command, const char *word) {
    uint64_t line = take_number("line", word, "bytes");
    if (line & (line - 1) || line > REFERENCE_SIZE_MAX)
        die("'--line=%s': a line has a power of two of bytes, from %d to %d", word, LINE_LEAST,
            REFERENCE_SIZE_MAX);
    ((struct reuse_command *)command)->options.line = (uint32_t)line;
}

static void take_window(void *command, const char *word) {
    ((struct reuse_command *)command)->options.window = take_number("window", word, "references");
}

static void take_part(void *command, const char *word) {
    struct part_choice *part = &((struct reuse_command *)command)->parts.part;
    read_part(&part->number, &part->count, word);
}

static void take_jobs(void *command, const char *word) {
    ((struct reuse_command *)command)->parts.jobs = read_jobs(word);
}

static void take_limit(void *command, const char *word) {
    ((struct reuse_command *)command)->options.limit = take_number("limit", word, "rows");
}

static void take_view(void *command, const char *word) {
    ((struct reuse_command *)command)->options.view = choose_reuse_view(word);
}

static void take_from(void *command, const char *word) {
    ((struct reuse_command *)command)->from = choose_source_format(word);
}

static void take_format(void *command, const char *word) {
    ((struct reuse_command *)command)->options.format = choose_table_format(word);
}

static void take_to(void *command, const char *word) {
    if (strcmp(word, "svg") != 0)
        die("'--to=%s': no such format; it is svg", word);
    ((struct reuse_command *)command)->svg = true;
}

#define FIELD(name) offsetof(struct reuse_command, options.name)

static const struct option_row rows[] = {
    {"by", 0, OPTION_PARSED, 0, take_view},
    {"line", 0, OPTION_PARSED, 0, take_line},
    {"window", 0, OPTION_PARSED, 0, take_window},
    {"from", 0, OPTION_PARSED, 0, take_from},
    {"to", 0, OPTION_PARSED, 0, take_to},
    {"part", 0, OPTION_PARSED, 0, take_part},
    {"merge", 0, OPTION_FLAG, offsetof(struct reuse_command, parts.merge), NULL},
    {"jobs", 0, OPTION_PARSED, 0, take_jobs},
    {"format", 0, OPTION_PARSED, 0, take_format},
    {"limit", 0, OPTION_PARSED, 0, take_limit},
    {"human", 0, OPTION_FLAG, FIELD(human), NULL},
    {"output", 'o', OPTION_TEXT, FIELD(output), NULL},
};

static const struct command_line command_line = {"reuse", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

static void use_all(struct reuse *reuse, struct reference_source *source, uint32_t line) {
    static struct memory_reference references[REFERENCES_MOST];
    size_t count;
    while ((count = source->next(source, references, REFERENCES_MOST)))
        for (size_t i = 0; i < count; i++) {
            const struct memory_reference *reference = &references[i];
            uint32_t size = reference->size;
            if (source->shortens && size > line)
                size = line;
            if (reference->kind != REFERENCE_FETCH)
                reuse_use(reuse, reference->address, size);
        }
    warn_of_unsure(source);
}

static void print_result(const struct reuse_command *command, const struct reuse *reuse,
                         const char *path) {
    if (command->svg)
        write_reuse_svg(&command->options, reuse, path);
    else
        write_reuse_table(&command->options, reuse, path);
}

/* Whether the output shows windows. */
static bool shows_windows(const struct reuse_command *command) {
    return command->svg || command->options.view == choose_reuse_view("window");
}

/* ---- parts ---- */

struct part_context {
    const struct reuse_command *command;
    struct reference_source *source;
    uint64_t window; /* 0: no windows */
};

static void make_part(void *context, struct part_choice part, struct buffer *contents) {
    struct part_context *parts = context;
    count_reuse_part(contents, parts->source, parts->command->options.line, parts->window, part);
}

static const struct part_work part_work = {PART_REUSE, make_part};

/* Prints what FILES give together. */
static void print_parts(struct reuse_command *command, part_files *files) {
    struct reuse reuse;
    struct reference_source source = {0};
    merge_reuse_parts(&reuse, &source, files);
    if (shows_windows(command) && !reuse.window)
        die("the parts have no windows; make them with --window=N or --by=window");
    command->options.line = 1u << reuse.line_bits;
    command->options.window = reuse.window;
    warn_of_unsure(&source);
    print_result(command, &reuse, source.path);
    reuse_release(&reuse);
    release_parts(files);
}

/* --merge: the words are files of parts. */
static int merge_files(struct reuse_command *command, char **paths, size_t count) {
    struct arena arena = {0};
    if (command->options.line || command->options.window || command->from)
        die("--merge prints what the parts have: give --line, --window and --from where --part "
            "makes them");
    part_files files = read_part_files(&arena, paths, count, PART_REUSE);
    print_parts(command, &files);
    arena_release(&arena);
    return 0;
}

/* Makes one part, or all of them by jobs, with windows of so many references, if it is not 0.
 * Returns false if neither is asked for, or if one process must do all. */
static bool count_parts(struct reuse_command *command, struct reference_source *source,
                        uint64_t window) {
    struct part_context context = {command, source, window};
    const struct part_options *options = &command->parts;
    if (options->part.count) {
        if (!source->begin_part)
            die("'--part=%u/%u': such a file cannot be cut into parts; record a trace ('quipu "
                "trace')",
                options->part.number, options->part.count);
        write_part(&part_work, &context, options->part, command->options.output);
        return true;
    }
    if (!source->begin_part || options->jobs < 2)
        return false;
    struct arena arena = {0};
    part_files files = make_parts(&arena, &part_work, &context, options->jobs);
    print_parts(command, &files);
    arena_release(&arena);
    return true;
}

/* ---- the whole ---- */

static void count_whole(const struct reuse_command *command, struct reference_source *source) {
    struct reuse reuse;
    reuse_begin(&reuse, command->options.line, command->options.window);
    use_all(&reuse, source, command->options.line);
    print_result(command, &reuse, source->path);
    reuse_release(&reuse);
}

int cmd_reuse(int argc, char **argv) {
    struct reuse_command command = {
        .options = {.view = choose_reuse_view("size"), .format = &table_text, .output = "-"}};
    int first = take_options(&command_line, argc, argv, &command);
    if (!first)
        return 0;
    check_part_options(&command.parts);
    if (command.parts.merge)
        return merge_files(&command, argv + first, (size_t)(argc - first));
    struct reference_source *source =
        open_source(command.from, argv + first, argc - first, PLACE_PROGRAM, argv[0]);
    struct reuse_options *options = &command.options;
    bool has_windows = options->window || shows_windows(&command);
    options->line = options->line ? options->line : LINE_DEFAULT;
    options->window = options->window ? options->window : WINDOW_DEFAULT;
    if (!count_parts(&command, source, has_windows ? options->window : 0))
        count_whole(&command, source);
    source->close(source);
    return 0;
}
