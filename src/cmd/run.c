/* run.c: quipu run [-o DIR] [--] PROGRAM ARGS: runs a program with a data directory.
 *
 * The program takes this process's place, so its status, its signals and its process number are its
 * own.  All that an instrumented program needs is QUIPU_DATA; its children inherit it. */
#include "cmd/cmd.h"

#include "util/arena.h"
#include "util/diag.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Exit statuses of a program that could not be started, as shells have them. */
enum {
    STATUS_CANNOT_RUN = 126,
    STATUS_NOT_FOUND = 127
};

static const char help[] =
    "usage: quipu run [-o DIR] [--] PROGRAM [ARGS]\n"
    "\n"
    "Runs PROGRAM, which 'quipu cc' built, so that it and its children write their counts into\n"
    "DIR, a file for each process.  The exit status is the program's own.\n"
    "\n"
    "  -o, --output=DIR  data directory, made where it is missing; otherwise QUIPU_DATA from the\n"
    "                    environment, otherwise 'quipu.data' in the working directory\n"
    "      --help        print this\n"
    "\n"
    "Exit status: 127 where PROGRAM is not found, 126 where it cannot be run, 1 for other errors.\n";

/* Makes the directory PATH and those that lead to it.  PATH is changed for a while. */
static bool make_directories(char *path) {
    for (char *next = path + 1; *next; next++) {
        if (*next != '/')
            continue;
        *next = '\0';
        bool failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        *next = '/';
        if (failed && errno != EROFS && errno != EACCES)
            return false; /* one that cannot be written may be there all the same */
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* Returns the absolute path of NAME, which is made where it is missing.  The caller frees it. */
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

/* Reads the options.  Returns the index of the program in argv. */
static int parse_options(int argc, char **argv, const char **directory) {
    static const char output[] = "--output=";
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--") == 0)
            return i + 1;
        if (strcmp(option, "--help") == 0) {
            fputs(help, stdout);
            exit(0);
        }
        if (strcmp(option, "-o") == 0 || strcmp(option, "--output") == 0) {
            if (++i == argc)
                die("'%s' needs a directory", option);
            *directory = argv[i];
        } else if (strncmp(option, output, sizeof output - 1) == 0) {
            *directory = option + sizeof output - 1;
        } else if (option[1] == 'o') {
            *directory = option + 2;
        } else {
            die("'%s': no such option; 'quipu run --help' lists them", option);
        }
    }
    return i;
}

int cmd_run(int argc, char **argv) {
    const char *directory = getenv("QUIPU_DATA");
    if (!directory || !*directory)
        directory = "quipu.data";
    int program = parse_options(argc, argv, &directory);
    if (program >= argc)
        die("no program to run; 'quipu run --help' tells how");
    if (!*directory)
        die("the data directory has no name; choose one with -o");
    char *absolute = make_data_directory(directory);
    if (setenv("QUIPU_DATA", absolute, 1) != 0)
        die("cannot set QUIPU_DATA: %s", strerror(errno));
    free(absolute);
    execvp(argv[program], argv + program);
    if (errno == ENOENT) {
        error("'%s': no such program", argv[program]);
        return STATUS_NOT_FOUND;
    }
    error("cannot run '%s': %s", argv[program], strerror(errno));
    return STATUS_CANNOT_RUN;
}
