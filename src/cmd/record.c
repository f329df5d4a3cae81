/* record.c: quipu record [-o FILE] [--] PROGRAM ARGS: runs the program and records all that comes
 * to it from outside, so that 'quipu replay' can repeat the run. */
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/process_number.h"
#include "cmd/record_guard.h"

#include "replay/recorder.h"
#include "util/clock.h"
#include "util/diag.h"
#include "util/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

struct record_options {
    struct record_request request;
    unsigned until_fails; /* runs at most; 0: one, whatever its status */
    bool keep_running;    /* the program goes on if the recorder is killed */
    const char *keep;     /* number of a process that is being recorded, or NULL */
};

static void print_help(void) {
    fputs("usage: quipu record [OPTIONS] [--] PROGRAM [ARGS]\n"
          "       quipu record --keep=PID [--output=FILE]\n\n"
          "Runs PROGRAM, whether quipu has built it or not, and records all that comes to it from\n"
          "outside: what system calls return and write, signals, the time. 'quipu replay' repeats\n"
          "the run from that. Threads and processes that it makes are recorded, too. Ends as\n"
          "PROGRAM does, once all processes have ended. What cannot be recorded ends the\n"
          "recording of its process with a warning; the process goes on.\n\n"
          "  -o, --output=FILE      the recording; quipu.rec where none is named\n"
          "      --keep=PID         write to FILE what is recorded of process PID up to now; its\n"
          "                         recorder goes on\n"
          "      --keep-running     if quipu is killed, PROGRAM goes on, and does not end\n"
          "      --last=SECONDS     keep the end of the run only: the last SECONDS, and up to\n"
          "                         half as much in front of them; also 30s, 5m, 1h\n"
          "      --until-fails=N    run PROGRAM until its status is not 0, at most N times, and\n"
          "                         keep that run\n"
          "      --shuffle          random turns and priorities of threads\n"
          "      --stops            stop at each system call, instead of recording frequent ones\n"
          "                         inside of PROGRAM\n"
          "      --help             print this\n\n"
          "Exit status: that of PROGRAM; 127 where it is not found, 1 for other errors. With\n"
          "--until-fails 0 if no run has failed.\n",
          stdout);
}

/* Returns the number that VALUE of OPTION is, at most MOST. */
static uint64_t number_of(const char *option, const char *value, uint64_t most) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 0);
    if (*value < '0' || *value > '9' || *end || errno || number > most)
        die("--%s='%s': not a number up to %llu", option, value, (unsigned long long)most);
    return number;
}

static void parse_until_fails(void *options, const char *value) {
    struct record_options *record = options;
    record->until_fails = (unsigned)number_of("until-fails", value, UINT32_MAX);
    if (!record->until_fails)
        die("--until-fails='%s': not a number of runs", value);
}

static void parse_last(void *options, const char *value) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
    struct record_options *record = options;
    char *end;
    double number = strtod(value, &end);
    record->request.last = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (*value >= '0' && *value <= '9' && strcmp(end, units[i].unit) == 0)
            record->request.last = number * units[i].seconds;
    if (!(record->request.last >= 0.1 && record->request.last <= 1e9))
        die("--last='%s': not a time from 0.1 seconds on; give seconds, or a number with 's', 'm' "
            "or 'h'",
            value);
}

static const struct option_row rows[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct record_options, request.path), NULL},
    {"keep", 0, OPTION_TEXT, offsetof(struct record_options, keep), NULL},
    {"keep-running", 0, OPTION_FLAG, offsetof(struct record_options, keep_running), NULL},
    {"last", 0, OPTION_PARSED, 0, parse_last},
    {"until-fails", 0, OPTION_PARSED, 0, parse_until_fails},
    {"shuffle", 0, OPTION_FLAG, offsetof(struct record_options, request.shuffle), NULL},
    {"stops", 0, OPTION_FLAG, offsetof(struct record_options, request.stops), NULL},
};

static const struct command_line command_line = {"record", print_help, rows,
                                                 sizeof rows / sizeof *rows, true};

/* Records a run. Returns whether it could be, and sets STATUS. */
static bool record_once(struct record_request *request, int *status) {
    struct arena arena = {0};
    if (getrandom(&request->seed, sizeof request->seed, GRND_NONBLOCK) < 0)
        request->seed = (uint64_t)(clock_seconds() * 1e9);
    const char *wrong = record_program(&arena, request, status);
    if (wrong && *wrong)
        error("'%s' cannot be recorded: %s", *request->argv, wrong);
    arena_release(&arena);
    return !wrong;
}

/* Whether the user has ended the run. */
static bool is_interrupted(int status) {
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM);
}

static void tell_failure(const struct record_options *options, unsigned run, int status) {
    bool by_signal = WIFSIGNALED(status);
    fprintf(stderr, "quipu: run %u of %u ended with %s %d; '%s' has it\n", run,
            options->until_fails, by_signal ? "signal" : "status",
            by_signal ? WTERMSIG(status) : WEXITSTATUS(status), options->request.path);
}

/* Each run gets the standard input from where it is now, if it is a file. */
static bool record_until_fails(struct record_options *options, int *status) {
    off_t place = lseek(STDIN_FILENO, 0, SEEK_CUR);
    for (unsigned run = 1; run <= options->until_fails; run++) {
        if (place >= 0)
            lseek(STDIN_FILENO, place, SEEK_SET);
        if (!record_once(&options->request, status))
            return false;
        if (*status == 0)
            continue;
        if (!is_interrupted(*status))
            tell_failure(options, run, *status);
        return true;
    }
    unlink(options->request.path);
    fprintf(stderr, "quipu: none of %u runs failed; no recording is kept\n", options->until_fails);
    return true;
}

/* Returns the status of the command. */
static int keep(const struct record_options *options) {
    struct arena arena = {0};
    pid_t process = read_process_number(options->keep);
    const char *wrong = keep_recording(&arena, process, options->request.path);
    if (wrong)
        error("%s", wrong);
    else
        fprintf(stderr, "quipu: '%s' has what was recorded of process %d up to now\n",
                options->request.path, (int)process);
    arena_release(&arena);
    return wrong ? 1 : 0;
}

int cmd_record(int argc, char **argv) {
    struct record_options options = {.request = {.path = "quipu.rec"}};
    struct arena arena = {0};
    int status = 0;
    sigset_t mask;
    int program = take_options(&command_line, argc, argv, &options);
    if (!program)
        return 0;
    if (options.keep && program < argc)
        die("'%s': --keep is about a program that runs already; name none", argv[program]);
    if (options.keep)
        return keep(&options);
    if (program == argc)
        die("no program to record; 'quipu record --help' tells how");
    if (!find_program(&arena, argv[program])) {
        error("'%s': no such program; give its path", argv[program]);
        arena_release(&arena);
        return 127;
    }
    arena_release(&arena);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    options.request.argv = argv + program;
    if (options.keep_running && (options.until_fails || options.request.shuffle))
        die("--keep-running and --%s exclude each other",
            options.until_fails ? "until-fails" : "shuffle");
    if (options.keep_running)
        guard_recorder(&options.request.note, &mask);
    bool recorded = options.until_fails ? record_until_fails(&options, &status)
                                        : record_once(&options.request, &status);
    return recorded ? child_end(status, &mask) : 1;
}
