/* command_line.c: the options of a command; see command_line.h. */
#include "cmd/command_line.h"

#include "cmd/cmd.h"
#include "report/output.h"
#include "util/diag.h"
#include "util/near.h"
#include "util/vector.h"

#include <getopt.h>
#include <string.h>

enum {
    ROWS_MAX = 32,
    FIRST_CODE = 256 /* getopt_long returns FIRST_CODE + n for row n, or its letter */
};

static int argument_of(const struct option_row *row) {
    switch (row->kind) {
    case OPTION_FLAG:
        return no_argument;
    case OPTION_WHEN:
        return optional_argument;
    default:
        return required_argument;
    }
}

static void take_option(const struct option_row *row, struct arena *lists, void *options) {
    void *field = (char *)options + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_TEXT:
        *(const char **)field = optarg;
        break;
    case OPTION_LIST:
        vector_push(lists, (text_vector *)field, optarg);
        break;
    case OPTION_WHEN:
        *(const char **)field = optarg ? optarg : "always";
        break;
    case OPTION_PARSED:
        row->parse(options, optarg);
    }
}

static int code_of(const struct command_line *line, size_t index) {
    return line->rows[index].letter ? line->rows[index].letter : FIRST_CODE + (int)index;
}

/* Returns the row for which getopt_long returns CODE, or NULL. */
static const struct option_row *find_row(const struct command_line *line, int code) {
    for (size_t i = 0; i < line->count; i++)
        if (code == code_of(line, i))
            return &line->rows[i];
    return NULL;
}

/* Ends the program with an error about OPTION, which may have a value. */
static void refuse_option(const struct command_line *line, const char *option) {
    struct arena arena = {0};
    struct near_names near_names = {.wanted = arena_copy(&arena, option, strcspn(option, "="))};
    offer_name(&near_names, "--help");
    for (size_t i = 0; i < line->count; i++)
        offer_name(&near_names, arena_print(&arena, "--%s", line->rows[i].name));
    die_near(&near_names,
             "'%s': no such option, or its value is missing; 'quipu %s --help' lists them", option,
             line->command);
}

int take_options(const struct command_line *line, int argc, char **argv, void *options) {
    struct option names[ROWS_MAX + 2] = {{"help", no_argument, NULL, 'h'}};
    char letters[2 * ROWS_MAX + 3] = "", *letter = letters;
    struct arena lists = {0}; /* of OPTIONS, so it is not released */
    int code;
    CHECK(line->count <= ROWS_MAX);
    if (line->program_follows)
        *letter++ = '+';
    *letter++ = 'h';
    for (size_t i = 0; i < line->count; i++) {
        const struct option_row *row = &line->rows[i];
        names[i + 1] = (struct option){row->name, argument_of(row), NULL, code_of(line, i)};
        if (!row->letter)
            continue;
        *letter++ = row->letter;
        if (row->kind != OPTION_FLAG)
            *letter++ = ':';
    }
    opterr = 0;
    optind = 0; /* restarts getopt_long */
    while ((code = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        const struct option_row *row = find_row(line, code);
        if (code == 'h') {
            line->print_help();
            return 0;
        }
        if (row)
            take_option(row, &lists, options);
        else
            refuse_option(line, argv[optind - 1]);
    }
    return optind;
}

static const char *format_name_at(size_t i) {
    static const char *const names[] = {"text", "json"};
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

bool wants_json(const char *word) {
    return choose_name("--format", "format", word, format_name_at) == 1;
}

int finish_command(int status) {
    end_output(stdout, "-");
    return status;
}
