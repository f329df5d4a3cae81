/* replay.c: quipu replay --check FILE: repeats a recorded run. */
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"

#include "replay/player.h"
#include "util/diag.h"

#include <stdio.h>

struct replay_options {
    bool check;
};

static void print_help(void) {
    fputs("usage: quipu replay --check RECORDING\n\n"
          "Repeats the run that 'quipu record' recorded. Writes what the program wrote to its\n"
          "standard output and standard error, and ends as it did. Its other files, sockets and\n"
          "terminals are not touched. Ends with status 1, and says where, if the run differs from\n"
          "the recording, or the recording was cut.\n\n"
          "      --check   repeat it whole, without a debugger\n"
          "      --help    print this\n",
          stdout);
}

static const struct option_row rows[] = {
    {"check", 0, OPTION_FLAG, offsetof(struct replay_options, check), NULL},
};

static const struct command_line command_line = {"replay", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

static int play(const char *path) {
    struct arena arena = {0};
    struct playing playing;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    enum played played = play_recording(&arena, path, &playing);
    unsigned long long calls = playing.calls;
    if (playing.left)
        warn("a process was recorded no further: %s", playing.left);
    if (played == PLAYED_END)
        return child_end(playing.status, &mask);
    if (played == PLAYED_CUT)
        error("'%s' was cut behind %llu system calls; the run is repeated up to there", path,
              calls);
    else if (played == PLAYED_STOPPED)
        error("'%s' ends behind %llu system calls, while the program went on: %s", path, calls,
              playing.message);
    else if (*playing.message)
        error("%s", playing.message);
    arena_release(&arena);
    return 1;
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
    if (!options.check)
        die("a debugger cannot replay a recording yet; 'quipu replay --check %s' repeats the run",
            argv[file]);
    return play(argv[file]);
}
