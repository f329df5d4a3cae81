/* goto.c: quipu goto MOMENT [--] PROGRAM ARGS: runs the program to a moment of its run.
 *
 * There gdb or a command takes over, or quipu prints registers and calls. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/on_stop.h"
#include "cmd/recorded_process.h"
#include "cmd/recorded_run.h"
#include "cmd/replay_session.h"
#include "cmd/temporary_data.h"

#include "moment/approach.h"
#include "moment/object.h"
#include "symbols/backtrace.h"
#include "symbols/loop_forms.h"
#include "util/diag.h"
#include "util/near.h"
#include "util/path.h"
#include "util/terminal.h"
#include "x86/trap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct goto_options {
    const char *command; /* to run at the moment, or NULL */
    const char *process; /* of a recording, or NULL */
    bool print;
};

static void print_help(void) {
    fputs(
        "usage: quipu goto [OPTIONS] MOMENT [--] PROGRAM [ARGS]\n"
        "       quipu goto [OPTIONS] MOMENT RECORDING\n\n"
        "Runs PROGRAM, which 'quipu cc --quipu=moment' built, to MOMENT of its run, and there\n"
        "hands it over to gdb; where there is no terminal or no gdb, registers and calls are\n"
        "printed. Or goes there in the run that 'quipu record' recorded; gdb can go on and back\n"
        "from there.\n\n"
        "MOMENT is FUNCTION+OFFSET@TICKS[/THREAD][~BUILD] or FILE:LINE@TICKS[/THREAD][~BUILD].\n\n" EXEC_HELP
        "      --print         print registers and calls there; the program then ends\n"
        "      --process=NAME  of a recording: go there in this process, as 'quipu info' names it;\n"
        "                      that of THREAD where none is named\n"
        "      --help          print this\n",
        stdout);
}

static int run_command(struct tracee *tracee, const struct arrival *arrival, const char *command) {
    leave_tracee(tracee);
    int status = run_on_stop(command, tracee->process, arrival->thread);
    kill_tracee(tracee);
    return status;
}

static int hand_over(struct arena *arena, const struct moment_name *name, struct tracee *tracee,
                     const struct arrival *arrival, const struct goto_options *options) {
    const struct binary *binary = arrival->binary;
    const char *line = line_text(arena, binary, arrival->address);
    const char *command = options->command;
    if (!command && !options->print && can_run_gdb())
        command = gdb_on_stop(arena, tracee->process, arrival->thread, true);
    print_line(stdout, "%s%s%s",
               moment_text(arena, binary, recorded_form(binary, arrival->address), arrival->ticks,
                           name->thread),
               *line ? "  " : "", line);
    fflush(stdout);
    if (command)
        return run_command(tracee, arrival, command);
    print_registers(arrival->thread);
    print_backtrace(tracee_memory(tracee), arrival->thread);
    kill_tracee(tracee);
    return 0;
}

/* Whether the moment NAME may be in a shared object that PROGRAM loads. */
static bool is_of_object(struct arena *arena, const struct binary *program,
                         const struct moment_name *name) {
    return !is_build_id(program->build_id, program->build_id_size, name->build) &&
           find_loader_hook(arena, program);
}

static int go(const char *text, char **argv, const struct goto_options *options) {
    struct arena arena = {0};
    struct moment_name name;
    struct binary *binary;
    struct tracee tracee = {0};
    struct arrival arrival = {0};
    address_list places = {0};
    const char *wrong = read_moment(&arena, text, &name);
    if (wrong)
        die("'%s': %s", text, wrong);
    const char *path = find_program(&arena, argv[0]);
    if (!path)
        die("'%s': no such program; give its path", argv[0]);
    wrong = binary_open(&arena, path, &binary);
    bool of_object = !wrong && is_of_object(&arena, binary, &name);
    if (!wrong && !of_object)
        wrong = check_program(binary);
    if (wrong)
        die("'%s': %s", path, wrong);
    wrong = of_object ? NULL : find_places(&arena, binary, &name, &places);
    if (wrong)
        die("'%s': %s%s", text, wrong,
            *name.build || suggests(wrong)
                ? ""
                : "; a moment of a shared object ends with '~' and its build id");
    use_temporary_data("quipu-goto-"); /* the counts of this run are not kept */
    wrong = approach(&arena, binary, &name, &places, argv, &tracee, &arrival);
    int status = 1;
    if (wrong && *wrong)
        error("'%s': %s", text, wrong);
    if (!wrong)
        status = hand_over(&arena, &name, &tracee, &arrival, options);
    if (arrival.binary != binary)
        binary_close(arrival.binary);
    binary_close(binary);
    arena_release(&tracee.arena);
    arena_release(&arena);
    return status;
}

/* Goes to the moment in the recording at PATH. gdb, where there is one, goes there by itself, and
 * can go on and back. */
static int go_in_recording(const char *text, const char *path, const struct goto_options *options) {
    struct arena arena = {0};
    if (options->command)
        die("--exec is not for recordings: their process is quipu's own; use --print");
    if (!options->print && can_run_gdb())
        return debug_replay(path,
                            &(struct replay_options){.at = text, .process = options->process});
    const char *process =
        options->process ? options->process : process_of_moment(&arena, path, text);
    struct timeline *timeline = begin_recorded_run(&arena, path, process);
    const char *wrong = go_to_moment(timeline, &arena, text);
    if (wrong)
        die("'%s': %s", text, wrong);
    pid_t thread = own_number(timeline, timeline->moment_thread);
    struct moment moment = thread_moment(timeline, &arena, timeline->moment_thread, 0, true);
    print_line(stdout, *moment.line ? "%s  %s" : "%s", moment.text, moment.line);
    fflush(stdout);
    print_registers(thread);
    print_backtrace(timeline_process(timeline), thread);
    end_recorded_run(timeline);
    arena_release(&arena);
    return 0;
}

static const struct option_row rows[] = {
    {"exec", 0, OPTION_TEXT, offsetof(struct goto_options, command), NULL},
    {"print", 0, OPTION_FLAG, offsetof(struct goto_options, print), NULL},
    {"process", 0, OPTION_TEXT, offsetof(struct goto_options, process), NULL},
};

static const struct command_line command_line = {"goto", print_help, rows,
                                                 sizeof rows / sizeof *rows, true};

int cmd_goto(int argc, char **argv) {
    struct goto_options options = {0};
    int moment = take_options(&command_line, argc, argv, &options);
    if (!moment)
        return 0;
    if (moment == argc)
        die("no moment to go to; 'quipu goto --help' tells how");
    int more = take_options(&command_line, argc - moment, argv + moment, &options);
    if (!more)
        return 0;
    if (moment + more == argc)
        die("no program to run; 'quipu goto --help' tells how");
    if (is_recorded_run(argv + moment + more))
        return go_in_recording(argv[moment], argv[moment + more], &options);
    if (options.process)
        die(PROCESS_NEEDS_RECORDING);
    return go(argv[moment], argv + moment + more, &options);
}
