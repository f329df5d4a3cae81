/* command_line.h: the options of a command, as a table. */
#ifndef QUIPU_CMD_COMMAND_LINE_H
#define QUIPU_CMD_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* sets a bool */
    OPTION_TEXT,   /* sets a const char * to its value */
    OPTION_PARSED, /* hands its value on */
    OPTION_WHEN,   /* sets a const char * to its value, "always" where it has none */
};

struct option_row {
    const char *name; /* "output": --output */
    char letter;      /* 'o': -o; 0: it has none */
    enum option_kind kind;
    size_t offset;                                   /* of what is set, in the command's options */
    void (*parse)(void *options, const char *value); /* ends the program where the value is bad */
};

struct command_line {
    const char *command;
    void (*print_help)(void);
    const struct option_row *rows; /* --help and -h are not among them */
    size_t count;
    bool program_follows; /* what stands behind the first other word is not for us */
};

/* Sets OPTIONS, the command's own structure, by what stands behind ARGV[0].  Returns the index of
 * the first word that is no option: such words are moved behind the options, unless a program
 * follows.  Returns 0 where only help was asked for, and given.  An option that is not known ends
 * the program. */
int take_options(const struct command_line *line, int argc, char **argv, void *options);

/* Whether --format=WORD, of a command that has these two, asks for json and not for text.  Another
 * word ends the program. */
bool wants_json(const char *word);

#endif
