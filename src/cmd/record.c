/* record.c: quipu record [-o FILE] [--] PROGRAM ARGS: runs the program and records all that comes
 * to it from outside, so that 'quipu replay' can repeat the run. */
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"

#include "replay/recorder.h"
#include "util/diag.h"
#include "util/path.h"

#include <stdio.h>

struct record_options {
    const char *output;
};

static void print_help(void) {
    fputs("usage: quipu record [OPTIONS] [--] PROGRAM [ARGS]\n\n"
          "Runs PROGRAM, whether quipu has built it or not, and records all that comes to it from\n"
          "outside: what system calls return and write, signals, the time. 'quipu replay' repeats\n"
          "the run from that. Threads and processes that it makes are recorded, too. Ends as\n"
          "PROGRAM does, once all processes have ended. What cannot be recorded ends the\n"
          "recording of its process with a warning; the process goes on.\n\n"
          "  -o, --output=FILE   the recording; quipu.rec where none is named\n"
          "      --help          print this\n\n"
          "Exit status: that of PROGRAM; 127 where it is not found, 1 for other errors.\n",
          stdout);
}

static const struct option_row rows[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct record_options, output), NULL},
};

static const struct command_line command_line = {"record", print_help, rows,
                                                 sizeof rows / sizeof *rows, true};

int cmd_record(int argc, char **argv) {
    struct record_options options = {.output = "quipu.rec"};
    struct arena arena = {0};
    int status = 0;
    sigset_t mask;
    int program = take_options(&command_line, argc, argv, &options);
    if (!program)
        return 0;
    if (program == argc)
        die("no program to record; 'quipu record --help' tells how");
    if (!find_program(&arena, argv[program])) {
        error("'%s': no such program; give its path", argv[program]);
        arena_release(&arena);
        return 127;
    }
    sigprocmask(SIG_SETMASK, NULL, &mask);
    const char *wrong = record_program(&arena, argv + program, options.output, &status);
    if (wrong && *wrong)
        error("'%s' cannot be recorded: %s", argv[program], wrong);
    arena_release(&arena);
    return wrong ? 1 : child_end(status, &mask);
}
