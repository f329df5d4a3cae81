/* command_line.h: the options of a command, as a table. */
#ifndef QUIPU_CMD_COMMAND_LINE_H
#define QUIPU_CMD_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* sets a bool */
    OPTION_TEXT,   /* sets a const char * to its value */
    OPTION_LIST,   /* appends its value to a text_vector */
    OPTION_PARSED, /* passes its value to `parse` */
    OPTION_WHEN,   /* sets a const char * to its value, or to "always" if it has none */
};

struct option_row {
    const char *name; /* "output": --output */
    char letter;      /* 'o': -o; 0: it has none */
    enum option_kind kind;
    size_t offset; /* of the member that is set, in the command's options */
    void (*parse)(void *options, const char *value); /* ends the program if the value is bad */
};

struct command_line {
    const char *command;
    void (*print_help)(void);
    const struct option_row *rows; /* without --help and -h */
    size_t count;
    bool program_follows; /* words behind the first one that is no option belong to a program */
};

/* Sets OPTIONS, the command's own structure, from the arguments behind ARGV[0]. Returns the index
 * of the first word that is not an option. Such words are moved behind the options, unless a
 * program follows. If help is requested, prints it and returns 0. An unknown option ends the
 * program. */
int take_options(const struct command_line *line, int argc, char **argv, void *options);

/* Whether WORD, the value of --format, is json; the other choice is text. Any other word ends the
 * program. */
bool wants_json(const char *word);

#endif
