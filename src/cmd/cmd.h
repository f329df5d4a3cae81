/* cmd.h: the commands, with one file each. main.c has the table. */
#ifndef QUIPU_CMD_CMD_H
#define QUIPU_CMD_CMD_H

#define QUIPU_VERSION "0.1.0"

/* Runs a command, and returns its exit status. argv[0] is the command's name. */
typedef int command_function(int argc, char **argv);

struct command {
    const char *name;
    const char *help; /* one line */
    command_function *run;
};

command_function cmd_cc, cmd_compiler, cmd_as, cmd_run, cmd_report, cmd_annotate, cmd_diff,
    cmd_merge, cmd_info, cmd_export, cmd_stat, cmd_goto, cmd_moment, cmd_when, cmd_watch, cmd_trace,
    cmd_print, cmd_cache, cmd_reuse, cmd_libc, cmd_record, cmd_replay, cmd_pack;

/* Flushes standard output and returns STATUS. Ends the program with an error if output was lost. */
int finish_command(int status);

#endif
