/* main.c: the table of commands. */
#include "cmd/cmd.h"
#include "cmd/compilers.h"

#include "util/near.h"
#include "util/path.h"
#include "util/process.h"

#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
    {"cc", "compile with instrumentation: quipu cc ARGS as the compiler's own", cmd_cc},
    {"libc", "build a C library with instrumentation, to link programs with", cmd_libc},
    {"run", "run a program with a data directory", cmd_run},
    {"goto", "run a program to a moment of its run", cmd_goto},
    {"when", "find the first moment at which an expression becomes true", cmd_when},
    {"watch", "tell of each write to variables of a program", cmd_watch},
    {"moment", "print the moments of a running process's threads", cmd_moment},
    {"stat", "print exact counts of events of a program or a running process", cmd_stat},
    {"report", "print counts by function, file, line, block, instruction, ...", cmd_report},
    {"annotate", "print source or assembly with counts", cmd_annotate},
    {"diff", "compare two runs or two builds, by function or by call site", cmd_diff},
    {"merge", "add data files up into one", cmd_merge},
    {"info", "tell what is instrumented, what was left alone, and why", cmd_info},
    {"export", "write counts for other tools: callgrind, lcov, cobertura, ...", cmd_export},
    {"record", "run a program and record its run, to be repeated", cmd_record},
    {"replay", "repeat a recorded run, in gdb, forwards and backwards", cmd_replay},
    {"pack", "put the files that a recorded run has mapped into its recording", cmd_pack},
    {"trace", "run a program that records all that it executes and accesses", cmd_trace},
    {"print", "print a trace", cmd_print},
    {"cache", "tell what misses in simulated caches, of a trace", cmd_cache},
    {"reuse", "tell how far apart a trace's references to a line are", cmd_reuse},
};

enum {
    COMMANDS = sizeof commands / sizeof *commands
};

static void print_help(FILE *out) {
    fputs("usage: quipu COMMAND [ARGS]\n"
          "or:    quipu COMPILER [ARGS]     gcc, g++-12, /usr/bin/cc, clang, ...; as quipu cc\n\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fputs("\n'quipu COMMAND --help' or 'man quipu-COMMAND' tells more\n", out);
}

int main(int argc, char **argv) {
    const char *name = last_part(argv[0]);
    keep_child_statuses();
    if (strcmp(name, "as") == 0)
        return cmd_as(argc, argv);
    if (strncmp(name, "quipu-", 6) == 0)
        return cmd_cc(argc, argv);
    if (argc < 2) {
        print_help(stderr);
        return 1;
    }
    char *of_command[] = {argv[0], argv[argc > 2 ? 2 : 1], "--help", NULL};
    if (argc > 2 && strcmp(argv[1], "help") == 0) { /* quipu help COMMAND */
        argc = 3;
        argv = of_command;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return finish_command(0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("quipu " QUIPU_VERSION);
        return finish_command(0);
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return finish_command(commands[i].run(argc - 1, argv + 1));
    struct arena arena = {0};
    if (is_compiler(&arena, argv[1])) /* as 'ccache gcc' */
        return cmd_compiler(argc - 1, argv + 1);
    if (is_own_name(argv[1])) { /* as quipu-fortran */
        argv[1] = arena_print(&arena, "quipu-%s", argv[1]);
        return cmd_cc(argc - 1, argv + 1);
    }
    struct near_names near_names = {.wanted = argv[1]};
    offer_name(&near_names, "help");
    for (size_t i = 0; i < COMMANDS; i++)
        offer_name(&near_names, commands[i].name);
    die_near(&near_names, "'%s': no such command; 'quipu --help' lists them", argv[1]);
}
