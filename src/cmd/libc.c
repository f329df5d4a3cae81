/* libc.c: quipu libc --build: builds a C library with quipu cc, for programs without gaps.
 *
 * The work is done by a script, share/build-libc. This file reads the options, and tells the script
 * and the library's description (c_library.h) what the library is for. */
#include "cmd/c_library.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/identity.h"
#include "cmd/options.h"
#include "cmd/root.h"

#include "util/buffer.h"
#include "util/diag.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_help(void) {
    fputs(
        "usage: quipu libc --build -o DIRECTORY [OPTIONS]\n\n"
        "Builds musl, a C library, with instrumentation.  In a program that is linked with it, the\n"
        "C library is counted, traced and watched as the program itself:\n\n"
        "  quipu libc --build --quipu=trace -o DIRECTORY\n"
        "  quipu cc --quipu=trace --quipu-libc=DIRECTORY -O2 -g prog.c -o prog\n\n"
        "      --build           build it; this takes some minutes\n"
        "  -o, --output=DIRECTORY\n"
        "                        where to put it; what an earlier build put there is replaced\n"
        "      --quipu=MODE[,MODE]...\n"
        "                        as for 'quipu cc', and the same as for the program: count (the\n"
        "                        default), event, moment, watch, calls, trace, several such as\n"
        "                        count,event, and none and null\n"
        "      --quipu-event=KIND\n"
        "                        as for 'quipu cc', also repeatedly: instructions, blocks, branches,\n"
        "                        branches-taken, branches-not-taken, calls, returns, loads, stores,\n"
        "                        bytes-loaded, bytes-stored, floating-point, vector, atomic\n"
        "      --source=SOURCE   directory or tar file with musl's source, 1.2.2 or later, instead\n"
        "                        of Debian's source package, which apt-get fetches\n"
        "      --compiler=COMPILER\n"
        "                        the gcc to build it with (gcc)\n"
        "      --cflags=FLAGS    further flags for the compiler, such as -O2\n"
        "      --jobs=N          compile N files at a time (as many as there are processors)\n"
        "      --help            print this\n",
        stdout);
}

struct libc_command {
    bool build;
    const char *output, *source, *compiler, *flags, *jobs;
    struct shim_options options;
    struct buffer own_flags; /* quipu cc's, each with a blank in front */
};

static void add_flag(struct libc_command *command, const char *name, const char *value) {
    if (strpbrk(value, " \t\n"))
        die("'--%s=%s': leave blanks out, such as behind the commas", name, value);
    buffer_print(&command->own_flags, " --%s=%s", name, value);
}

static void take_modes(void *context, const char *names) {
    struct libc_command *command = context;
    const char *wrong = set_modes(&command->options, names);
    if (wrong)
        die("'--quipu=%s': %s", names, wrong);
    add_flag(command, "quipu", names);
}

static void take_event(void *context, const char *text) {
    struct libc_command *command = context;
    const char *wrong = add_event(&command->options, text);
    if (wrong)
        die("'--quipu-event=%s': %s", text, wrong);
    add_flag(command, "quipu-event", text);
}

static void take_jobs(void *context, const char *word) {
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    if (*word < '0' || *word > '9' || *end || !number || number > 4096)
        die("'--jobs=%s' is not a number of jobs, from 1 to 4096", word);
    ((struct libc_command *)context)->jobs = word;
}

#define FIELD(name) offsetof(struct libc_command, name)

static const struct option_row rows[] = {
    {"build", 0, OPTION_FLAG, FIELD(build), NULL},
    {"output", 'o', OPTION_TEXT, FIELD(output), NULL},
    {"quipu", 0, OPTION_PARSED, 0, take_modes},
    {"quipu-event", 0, OPTION_PARSED, 0, take_event},
    {"source", 0, OPTION_TEXT, FIELD(source), NULL},
    {"compiler", 0, OPTION_TEXT, FIELD(compiler), NULL},
    {"cflags", 0, OPTION_TEXT, FIELD(flags), NULL},
    {"jobs", 0, OPTION_PARSED, 0, take_jobs},
};

static const struct command_line command_line = {"libc", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

/* Whether DIRECTORY has something, but no C library of an earlier build: it is not ours to
 * replace. */
static bool is_of_others(struct arena *arena, const char *directory) {
    static const char *const own[] = {C_LIBRARY_FILE, C_LIBRARY_FILE ".new"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (access(arena_print(arena, "%s/%s", directory, own[i]), F_OK) == 0)
            return false;
    return rmdir(directory) != 0 && errno != ENOENT; /* an empty one is removed, and made again */
}

/* Makes the directory with the description. The script gives that its name when all is done.
 * Returns the directory's absolute path. */
static const char *make_output(struct libc_command *command) {
    struct arena *arena = &command->options.arena;
    const char *output = command->output;
    if (is_of_others(arena, output))
        die("'%s': is there, and is no C library of quipu's; name another directory", output);
    if (mkdir(output, 0777) != 0 && errno != EEXIST)
        die("cannot make '%s': %s", output, strerror(errno));
    const char *path = arena_print(arena, "%s/" C_LIBRARY_FILE ".new", output);
    const char *text =
        arena_print(arena, "%s\n%s\n", c_library_kind(&command->options), own_identity(arena));
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || !write_whole(fd, text, strlen(text)) || close(fd) != 0)
        die("cannot write '%s': %s", path, strerror(errno));
    char *absolute = realpath(output, NULL);
    if (absolute)
        output = arena_copy(arena, absolute, strlen(absolute));
    else
        die("'%s': %s", output, strerror(errno));
    free(absolute);
    return output;
}

/* Returns the absolute path of the source, or "". */
static const char *find_source(struct libc_command *command) {
    if (!command->source)
        return "";
    char *absolute = realpath(command->source, NULL);
    const char *source =
        absolute ? arena_copy(&command->options.arena, absolute, strlen(absolute)) : NULL;
    if (!source)
        die("'%s': %s; --source wants a directory or a tar file", command->source, strerror(errno));
    free(absolute);
    return source;
}

static int build(struct libc_command *command) {
    struct arena *arena = &command->options.arena;
    char root[PATH_MAX], program[PATH_MAX];
    find_root(root);
    find_ourselves(program);
    add_flag(command, "quipu-libc", ""); /* this is the library itself */
    if (command->compiler)
        add_flag(command, "quipu-compiler", command->compiler);
    const char *own_flags = arena_copy(
        arena, command->own_flags.data ? command->own_flags.data : "", command->own_flags.count);
    if (setenv("QUIPU_FLAGS", own_flags, 1) || unsetenv("QUIPU_MODE"))
        die("cannot set the environment: %s", strerror(errno));
    const char *source = find_source(command), *output = make_output(command);
    const char *compiler = command->compiler ? command->compiler : "gcc";
    const char *jobs =
        command->jobs ? command->jobs : arena_print(arena, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    const char *flags = command->flags ? command->flags : "";
    char *script = arena_print(arena, "%s/share/quipu/build-libc", root);
    char *const argv[] = {(char *)"sh",   script,         program,
                          (char *)output, (char *)source, (char *)compiler,
                          (char *)jobs,   (char *)flags,  NULL};
    int status = run_program(argv, NULL, 0, false);
    if (status)
        return 1;
    printf("'%s' is built; compile and link with --quipu-libc=%s\n", output, output);
    return finish_command(0);
}

int cmd_libc(int argc, char **argv) {
    struct libc_command command = {.options = default_options()};
    int first = take_options(&command_line, argc, argv, &command);
    if (!first)
        return 0;
    if (first < argc)
        die("'%s': no such argument; 'quipu libc --help' lists them", argv[first]);
    if (!command.build || !command.output)
        die("--%s is missing; 'quipu libc --help' tells more", command.build ? "output" : "build");
    int status = build(&command);
    buffer_release(&command.own_flags);
    arena_release(&command.options.arena);
    return status;
}
