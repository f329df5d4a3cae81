/* replay.c: quipu replay FILE: repeats a recorded run, in a debugger or with --check. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/played.h"
#include "cmd/replay_session.h"

#include "replay/player.h"
#include "util/diag.h"
#include "util/size.h"

#include <stdio.h>

static void print_help(void) {
    fputs(
        "usage: quipu replay [OPTIONS] RECORDING\n\n"
        "Repeats the run that 'quipu record' recorded, in gdb, which can go forwards and\n"
        "backwards in it. The run's files, sockets and terminals are not touched; what it wrote\n"
        "to its standard output and standard error is written again.\n\n"
        "      --at=PLACE     begin at 'begin', 'end', 'program', where the process began to execute\n"
        "                     its last one, 'signal', the last one, at a moment, or behind so many\n"
        "                     events\n"
        "      --check        repeat it whole, without a debugger, and end as it did; with\n"
        "                     status 1, and where, if the run differs from the recording, or the\n"
        "                     recording was cut\n"
        "      --gdb=PROGRAM  this gdb; 'gdb' where none is named\n"
        "      --memory=SIZE  checkpoints, from which it goes backwards, take so many bytes at most;\n"
        "                     half of this machine's memory where no size is named\n"
        "      --port=N       wait for a debugger at port N of 127.0.0.1; 0: one that is free\n"
        "      --process=NAME debug this process, as 'quipu info' names it: 1/2 is the second\n"
        "                     child of the first one, which is debugged where none is named\n"
        "      --help         print this\n\n"
        "In gdb, 'monitor help' lists what quipu adds.\n",
        stdout);
}

static void parse_memory(void *options, const char *value) {
    struct replay_options *replay = options;
    const char *end = value;
    if (!read_size(&end, &replay->memory) || *end || !replay->memory)
        die("--memory='%s': not a size, as 512M or 2G", value);
}

static const struct option_row rows[] = {
    {"at", 0, OPTION_TEXT, offsetof(struct replay_options, at), NULL},
    {"check", 0, OPTION_FLAG, offsetof(struct replay_options, check), NULL},
    {"gdb", 0, OPTION_TEXT, offsetof(struct replay_options, gdb), NULL},
    {"memory", 0, OPTION_PARSED, 0, parse_memory},
    {"port", 0, OPTION_TEXT, offsetof(struct replay_options, port), NULL},
    {"process", 0, OPTION_TEXT, offsetof(struct replay_options, process), NULL},
};

static const struct command_line command_line = {"replay", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

static int play(const char *path) {
    struct arena arena = {0};
    struct playing playing;
    play_recording(&arena, path, &playing);
    int status = end_played(path, &playing);
    arena_release(&arena);
    return status;
}

int cmd_replay(int argc, char **argv) {
    struct replay_options options = {0};
    int file = take_options(&command_line, argc, argv, &options);
    if (!file)
        return 0;
    if (file == argc)
        die("no recording to replay; 'quipu replay --help' tells how");
    if (file + 1 < argc)
        die("'%s': one recording at a time", argv[file + 1]);
    if (options.check &&
        (options.at || options.gdb || options.port || options.process || options.memory))
        die("--check repeats the whole run, without a debugger");
    if (options.gdb && options.port)
        die("--port waits for a debugger, --gdb starts one; choose one of them");
    return options.check ? play(argv[file]) : debug_replay(argv[file], &options);
}
