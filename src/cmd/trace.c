/* trace.c: quipu trace -o FILE [--] PROGRAM ARGS: runs a program that records a trace.
 *
 * This process collects the records of all processes that inherit QUIPU_TRACE, as long as one of
 * them runs. Then it ends as the program did. */
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/jobs.h"
#include "cmd/process_number.h"
#include "cmd/recorded_run.h"
#include "cmd/trace_input.h"
#include "cmd/trace_process.h"
#include "cmd/trace_recording.h"
#include "cmd/trace_window.h"

#include "trace/collector.h"
#include "trace/trim.h"
#include "util/diag.h"
#include "util/size.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static const char help[] =
    "usage: quipu trace [-o FILE] [OPTIONS] [--] PROGRAM [ARGS]\n"
    "       quipu trace [-o FILE] [OPTIONS] --pid=PID [--seconds=S]\n"
    "       quipu trace [-o FILE] [OPTIONS] RECORDING\n"
    "\n"
    "Runs PROGRAM, which 'quipu cc --quipu=trace' built, so that all its threads and children\n"
    "record what they execute.  'quipu print FILE' shows it.  The exit status is the program's own.\n"
    "Of a RECORDING ('quipu record') of a program that was built with 'moment,trace', the trace is\n"
    "that of the recorded run, with all threads in their order.\n"
    "\n"
    "  -o, --output=FILE   the trace; otherwise 'quipu.trace'\n"
    "      --memory=SIZE   at most SIZE bytes for what is not stored yet, such as 16M; threads\n"
    "                      wait while it is full.  64M unless given\n"
    "      --level=N       compress by level N of zstd, 1 to 19; 0: do not compress.  1 unless given\n"
    "      --jobs=N        compress by N threads at a time; otherwise by as many as processors\n"
    "      --drop          threads do not wait: what has no room is left out, and marked\n"
    "      --schedule      run all on one processor, and record when each thread leaves it; then\n"
    "                      'quipu print --order=schedule' has the one order that they had\n"
    "      --processor=N   ... on processor N; otherwise on the last one that quipu may use\n"
    "\n"
    "Only a part of the run:\n"
    "\n"
    "      --pid=PID       from now on what process PID executes, until it ends or you interrupt\n"
    "      --seconds=S     ... or until S seconds have gone by\n"
    "      --from=MOMENT   only from this moment of a thread on, such as 'quipu watch' prints it, if\n"
    "                      the program was built with 'moment', too\n"
    "      --to=MOMENT     only up to this moment of a thread\n"
    "      --function=NAME only while the function NAME of the program has been called\n"
    "      --first=N       only the first N instructions of each thread\n"
    "      --every=N/M     of each M buffers that a thread fills, only the first N\n"
    "      --help          print this\n";

enum {
    LEVEL_MOST = 19,
    MESSAGE_SECONDS = 2,        /* until it says for whom it waits */
    LOOK_NANOSECONDS = 50000000 /* between two looks for processes that have ended */
};

struct trace_options {
    struct collector_options collector;
    pid_t pid; /* of a process that runs already; 0: a program is started */
    uint64_t seconds;
};

enum {
    ANY_PROCESSOR = -1
};

static void print_help(void) {
    fputs(help, stdout);
}

static void parse_memory(void *options, const char *value) {
    struct trace_options *trace = options;
    const char *end = value;
    if (!read_size(&end, &trace->collector.memory) || *end)
        die("--memory='%s': not a size such as 16M, at most 64G", value);
}

static void parse_level(void *options, const char *value) {
    ((struct trace_options *)options)->collector.level =
        (int)read_number("level", value, LEVEL_MOST);
}

static void parse_jobs(void *options, const char *value) {
    ((struct trace_options *)options)->collector.jobs = read_jobs(value);
}

static void parse_first(void *options, const char *value) {
    ((struct trace_options *)options)->collector.window.first =
        read_number("first", value, UINT64_MAX);
}

static void parse_pid(void *options, const char *value) {
    ((struct trace_options *)options)->pid = read_process_number(value);
}

static void parse_processor(void *options, const char *value) {
    ((struct trace_options *)options)->collector.processor =
        (int)read_number("processor", value, INT_MAX);
}

static void parse_seconds(void *options, const char *value) {
    ((struct trace_options *)options)->seconds = read_number("seconds", value, INT_MAX);
}

static void parse_every(void *options, const char *value) {
    struct trace_window *window = &((struct trace_options *)options)->collector.window;
    if (!read_ratio(value, &window->keep, &window->of))
        die("--every='%s': not N/M such as 1/100: of each 100 buffers, the first one", value);
}

static const struct option_row rows[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct trace_options, collector.output), NULL},
    {"memory", 0, OPTION_PARSED, 0, parse_memory},
    {"level", 0, OPTION_PARSED, 0, parse_level},
    {"jobs", 0, OPTION_PARSED, 0, parse_jobs},
    {"drop", 0, OPTION_FLAG, offsetof(struct trace_options, collector.drop), NULL},
    {"schedule", 0, OPTION_FLAG, offsetof(struct trace_options, collector.schedule), NULL},
    {"processor", 0, OPTION_PARSED, 0, parse_processor},
    {"pid", 0, OPTION_PARSED, 0, parse_pid},
    {"seconds", 0, OPTION_PARSED, 0, parse_seconds},
    {"function", 0, OPTION_TEXT, offsetof(struct trace_options, collector.window.function), NULL},
    {"from", 0, OPTION_TEXT, offsetof(struct trace_options, collector.window.from), NULL},
    {"to", 0, OPTION_TEXT, offsetof(struct trace_options, collector.window.to), NULL},
    {"first", 0, OPTION_PARSED, 0, parse_first},
    {"every", 0, OPTION_PARSED, 0, parse_every},
};

static const struct command_line command_line = {"trace", print_help, rows,
                                                 sizeof rows / sizeof *rows, true};

/* ---- signals ---- */

static const int numbers[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};

/* What the signal handler knows. */
static struct {
    const struct collector *collector;
    volatile pid_t program; /* 0: it has ended */
    volatile sig_atomic_t stop;
} running;

/* Signals for quipu alone are passed on; those of the terminal the program gets itself. */
static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    int saved = errno;
    if (number != SIGCHLD && !running.program)
        running.stop = 1;
    else if (number != SIGCHLD && info->si_code <= 0)
        kill(running.program, number);
    collector_wake(running.collector);
    errno = saved;
}

static void catch_signals(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART}, old;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 &&
            (old.sa_handler != SIG_IGN || numbers[i] == SIGCHLD))
            sigaction(numbers[i], &action, NULL);
}

/* ---- collecting ---- */

static double seconds_since(const struct timespec *begin) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

/* Whether LOOK_NANOSECONDS have gone by since *LAST. If so, *LAST is now. */
static bool is_due(struct timespec *last) {
    bool due = seconds_since(last) * 1e9 >= LOOK_NANOSECONDS;
    if (due)
        clock_gettime(CLOCK_MONOTONIC, last);
    return due;
}

/* Takes records until the program has ended. However busy it is, buffers of processes that have
 * ended are removed meanwhile. Returns its status. */
static int collect_from_program(struct collector *collector) {
    struct timespec looked = {0};
    int status = 0;
    for (;;) {
        uint32_t moment = collector_moment(collector);
        pid_t ended = waitpid(running.program, &status, WNOHANG);
        if (ended == running.program || (ended < 0 && errno != EINTR))
            break;
        if (!collector_take(collector, !is_due(&looked)))
            collector_wait(collector, moment);
    }
    running.program = 0;
    return status;
}

/* Takes records until all processes have ended that record. */
static void collect_from_others(struct collector *collector) {
    time_t begin = time(NULL);
    bool told = false;
    for (;;) {
        uint32_t moment = collector_moment(collector);
        while (collector_take(collector, false))
            ;
        if (!collector_has_processes(collector) || running.stop)
            return;
        if (!told && time(NULL) - begin >= MESSAGE_SECONDS) {
            warn("the program has ended, but processes that it started still record; an interrupt "
                 "(Ctrl-C) ends the trace");
            told = true;
        }
        collector_wait(collector, moment);
    }
}

/* Takes the records of a process that runs already. */
static void collect_from_process(struct collector *collector, pid_t pid, uint64_t seconds) {
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    begin_process_recording(pid, collector_directory(collector));
    while (!running.stop && !collector_failed(collector) && (kill(pid, 0) == 0 || errno == EPERM) &&
           (!seconds || seconds_since(&begin) < (double)seconds)) {
        uint32_t moment = collector_moment(collector);
        if (!collector_take(collector, false))
            collector_wait(collector, moment);
    }
    end_process_recording(pid);
}

/* Ends the recording. Returns NULL, or an error message. */
static const char *end_recording(struct collector *collector,
                                 const struct collector_options *options) {
    const char *cause = collector_end(collector);
    if (!cause && options->window.first)
        (void)trim_trace(options->output); /* otherwise it stays larger */
    return cause;
}

static int trace_process(const struct trace_options *options) {
    need_recording_process(options->pid);
    struct collector *collector = collector_begin(&options->collector);
    running.collector = collector;
    catch_signals();
    collect_from_process(collector, options->pid, options->seconds);
    bool recorded = collector_has_records(collector);
    const char *cause = end_recording(collector, &options->collector);
    if (cause)
        error("%s", cause);
    else if (!recorded)
        error("process %d has recorded nothing: it has executed too little code that records",
              (int)options->pid);
    return cause || !recorded ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int trace_program(const struct trace_options *options, char **argv) {
    struct collector *collector = collector_begin(&options->collector);
    if (setenv("QUIPU_TRACE", collector_directory(collector), 1) != 0)
        die("cannot set QUIPU_TRACE: %s", strerror(errno));
    sigset_t signals, old;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&signals, numbers[i]);
    sigprocmask(SIG_BLOCK, &signals, &old);
    running.collector = collector;
    collector_enter_processor(collector);
    running.program = child_begin(argv, &old);
    collector_leave_processor(collector);
    catch_signals();
    sigprocmask(SIG_SETMASK, &old, NULL);
    int status = collect_from_program(collector);
    collect_from_others(collector);
    const char *cause = end_recording(collector, &options->collector);
    if (cause)
        error("%s", cause);
    status = child_end(status, &old);
    return cause && status == 0 ? EXIT_FAILURE : status;
}

int cmd_trace(int argc, char **argv) {
    struct trace_options options = {
        .collector = {
            .output = "quipu.trace", .memory = 64 << 20, .level = 1, .processor = ANY_PROCESSOR}};
    int program = take_options(&command_line, argc, argv, &options);
    if (!program)
        return 0;
    if (options.pid ? program < argc : program == argc)
        die(options.pid ? "--pid: name a process or a program, not both"
                        : "no program to run; 'quipu trace --help' tells how");
    if (options.seconds && !options.pid)
        die("--seconds is for a process that runs already; name it by --pid");
    if (options.collector.processor != ANY_PROCESSOR && !options.collector.schedule)
        die("--processor needs --schedule");
    if (options.pid && options.collector.schedule)
        die("--schedule is for a program that quipu starts, and so can run on one processor");
    if (options.pid) {
        char file[32];
        snprintf(file, sizeof file, "/proc/%d/exe", (int)options.pid);
        need_window_moments(file, &options.collector.window);
        return trace_process(&options);
    }
    if (is_recorded_run(argv + program))
        return trace_recording(&options.collector, argv[program]);
    const struct trace_window *window = &options.collector.window;
    if (window->function)
        need_recording_function(argv[program], window->function);
    need_window_moments(argv[program], window);
    int status = trace_program(&options, argv + program);
    return came_to_moments(options.collector.output, window) || status ? status : EXIT_FAILURE;
}
