/* run.c: quipu run [-o DIR] [--] PROGRAM ARGS: runs a program with a data directory.
 *
 * The program replaces this process, so its status, its signals and its process number are its own.
 * With --merge, it is a child (run_merge.c).
 * An instrumented program needs only QUIPU_DATA, and its children inherit that. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/run_merge.h"

#include "data/sources.h"

#include "util/arena.h"
#include "util/diag.h"
#include "util/process.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: quipu run [-o DIR] [--] PROGRAM [ARGS]\n"
    "\n"
    "Runs PROGRAM, which 'quipu cc' built, so that it and its children write their counts into\n"
    "DIR, a file for each process.  The exit status is the program's own.\n"
    "\n"
    "  -o, --output=DIR  data directory, made where it is missing; otherwise QUIPU_DATA from the\n"
    "                    environment, otherwise 'quipu.data' in the working directory\n"
    "      --merge       add each process that ends to DIR/merged.quipu, and remove its file\n"
    "      --help        print this\n"
    "\n"
    "Exit status: 127 where PROGRAM is not found, 126 where it cannot be run, 1 for other errors.\n";

/* Makes the directory PATH and its parents. PATH is changed for a while. Returns false, with errno
 * set, on failure. */
static bool make_directories(char *path) {
    for (char *next = path + 1; *next; next++) {
        if (*next != '/')
            continue;
        *next = '\0';
        bool failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        *next = '/';
        if (failed && errno != EROFS && errno != EACCES)
            return false; /* a directory that cannot be written may exist */
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* Returns the absolute path of directory NAME, which it makes if it is missing. The caller frees
 * it. */
static char *make_data_directory(const char *name) {
    struct stat status;
    struct arena arena = {0};
    char *path = arena_copy(&arena, name, strlen(name));
    if (!make_directories(path))
        die("cannot make '%s': %s; choose another directory with -o", name, strerror(errno));
    char *absolute = realpath(path, NULL);
    if (!absolute || stat(absolute, &status) != 0)
        die("cannot open '%s': %s; choose another directory with -o", name, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        die("'%s' is not a directory; choose another one with -o", name);
    arena_release(&arena);
    return absolute;
}

struct run_options {
    const char *directory;
    bool merge;
};

static void print_help(void) {
    fputs(help, stdout);
}

static const struct option_row rows[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct run_options, directory), NULL},
    {"merge", 0, OPTION_FLAG, offsetof(struct run_options, merge), NULL},
};

static const struct command_line command_line = {"run", print_help, rows,
                                                 sizeof rows / sizeof *rows, true};

int cmd_run(int argc, char **argv) {
    struct run_options options = {.directory = default_data()};
    int program = take_options(&command_line, argc, argv, &options);
    if (!program)
        return 0;
    if (program == argc)
        die("no program to run; 'quipu run --help' tells how");
    if (!*options.directory)
        die("the data directory has no name; choose one with -o");
    char *absolute = make_data_directory(options.directory);
    if (setenv("QUIPU_DATA", absolute, 1) != 0)
        die("cannot set QUIPU_DATA: %s", strerror(errno));
    if (options.merge)
        return run_merging(absolute, argv + program);
    free(absolute);
    return execute_program(argv + program);
}
