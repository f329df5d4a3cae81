/* reuse.c: quipu reuse FILE: stack distances, the misses of caches of all sizes, and the working
 * set over time. */
#include "cmd/reuse.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"

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
        "usage: quipu reuse [OPTIONS] FILE\n\n"
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
        "      --format=FORMAT  text (default), json or csv\n"
        "      --limit=N        the first N rows only\n"
        "      --human          short numbers: 1.23G\n"
        "  -o, --output=FILE    write there instead of standard output\n"
        "      --help           print this\n",
        stdout);
}

struct reuse_command {
    struct reuse_options options;
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
    if (source->unsure)
        warn("'%s': %" PRIu64 " accesses are left out: the trace does not tell them exactly",
             source->path, source->unsure);
}

int cmd_reuse(int argc, char **argv) {
    struct reuse_command command = {.options = {.view = choose_reuse_view("size"),
                                                .format = &table_text,
                                                .output = "-",
                                                .line = LINE_DEFAULT,
                                                .window = WINDOW_DEFAULT}};
    int first = take_options(&command_line, argc, argv, &command);
    if (!first)
        return 0;
    struct reference_source *source =
        open_source(command.from, argv + first, argc - first, PLACE_PROGRAM, argv[0]);
    struct reuse reuse;
    reuse_begin(&reuse, command.options.line, command.options.window);
    use_all(&reuse, source, command.options.line);
    if (command.svg)
        write_reuse_svg(&command.options, &reuse, source->path);
    else
        write_reuse_table(&command.options, &reuse, source->path);
    reuse_release(&reuse);
    source->close(source);
    return 0;
}
