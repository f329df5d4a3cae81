/* trace.c: quipu trace -o FILE [--] PROGRAM ARGS: runs a program that records a trace. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"

#include "format/trace.h"
#include "util/diag.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: quipu trace [-o FILE] [--] PROGRAM [ARGS]\n"
    "\n"
    "Runs PROGRAM, which 'quipu cc --quipu=trace' built, so that all its threads and children\n"
    "record what they execute.  'quipu print FILE' shows it.\n"
    "\n"
    "  -o, --output=FILE  the trace; otherwise 'quipu.trace'\n"
    "      --help         print this\n";

struct trace_options {
    const char *output;
};

static void print_help(void) {
    fputs(help, stdout);
}

static const struct option_row rows[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct trace_options, output), NULL},
};

static const struct command_line command_line = {"trace", print_help, rows,
                                                 sizeof rows / sizeof *rows, true};

static void make_file(const char *path) {
    struct quipu_trace_file header = {.version = QUIPU_TRACE_VERSION, .size = 4096};
    memcpy(header.magic, QUIPU_TRACE_MAGIC, sizeof header.magic);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, &header, sizeof header) != sizeof header || ftruncate(fd, 4096) != 0)
        die("cannot write '%s': %s", path, strerror(errno));
    close(fd);
}

int cmd_trace(int argc, char **argv) {
    struct trace_options options = {.output = "quipu.trace"};
    int program = take_options(&command_line, argc, argv, &options);
    if (!program)
        return 0;
    if (program == argc)
        die("no program to run; 'quipu trace --help' tells how");
    make_file(options.output);
    char *absolute = realpath(options.output, NULL);
    if (!absolute || setenv("QUIPU_TRACE", absolute, 1) != 0)
        die("cannot use '%s': %s", options.output, strerror(errno));
    free(absolute);
    return execute_program(argv + program);
}
