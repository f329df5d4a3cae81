/* print.c: quipu print [OPTIONS] FILE: a trace as text, JSON or comma-separated values. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/jobs.h"
#include "cmd/trace_input.h"
#include "cmd/trace_jobs.h"

#include "report/output.h"
#include "report/pager.h"
#include "trace/listing.h"
#include "util/diag.h"
#include "util/near.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: quipu print [OPTIONS] FILE\n"
    "\n"
    "Prints a trace, thread by thread: the address and size of each executed instruction, its\n"
    "place in the source, and what it read (R) and wrote (W): address and size.\n"
    "\n"
    "      --asm              also the text of each instruction\n"
    "      --moments          also the name of the moment in front of each instruction, for\n"
    "                         'quipu goto', if the program was built with 'moment', too\n"
    "      --expand           what memcpy, read and the like accessed as words of 8 bytes\n"
    "      --order=ORDER      thread: one thread after the other (default); global: all threads in\n"
    "                         one order, which contradicts none that synchronization made;\n"
    "                         schedule: the same, with a line where a thread left the processor\n"
    "                         ('quipu trace --schedule')\n"
    "      --layout=BINARY    addresses of instructions as in BINARY, the same code built\n"
    "                         without quipu\n"
    "      --process=PID      only this process\n"
    "      --thread=TID       only this thread\n"
    "      --function=NAME    only the instructions of this function\n"
    "      --part=I/N         only part I of the N parts, of about the same size, of each thread\n"
    "      --from=MOMENT      only what a thread executed from this moment on, such as 'watch',\n"
    "                         'when' and --moments print; with --order=global what all did\n"
    "      --to=MOMENT        ... and up to this moment\n"
    "      --jobs=N           divide the work between N processes; the output is the same\n"
    "      --skip=N           leave out the first N of these instructions, in each thread\n"
    "      --first=N          ... and then print only N\n"
    "      --format=FORMAT    text (default), json (an object a line) or csv\n"
    "      --no-pager         a terminal gets all at once, not by QUIPU_PAGER\n"
    "  -o, --output=FILE      write there, compressed where the name ends in .gz\n"
    "      --help             print this\n";

struct print_options {
    struct listing_options listing;
    struct trace_selection selection;
    const char *output;
    unsigned jobs; /* processes */
    bool no_pager;
};

static void print_help(void) {
    fputs(help, stdout);
}

static void take_format(void *options, const char *word) {
    ((struct print_options *)options)->listing.format = choose_listing_format(word);
}

static const char *order_name_at(size_t i) {
    static const char *const names[] = {"thread", "global", "schedule"};
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static void take_order(void *options, const char *word) {
    enum {
        BY_THREAD = 0,
        BY_SCHEDULE = 2
    };
    struct listing_options *listing = &((struct print_options *)options)->listing;
    size_t order = choose_name("--order", "order", word, order_name_at);
    listing->global = order != BY_THREAD;
    listing->switches = order == BY_SCHEDULE;
}

static void take_process(void *options, const char *word) {
    ((struct print_options *)options)->selection.process =
        (uint32_t)read_number("process", word, UINT32_MAX);
}

static void take_thread(void *options, const char *word) {
    ((struct print_options *)options)->selection.thread =
        (uint32_t)read_number("thread", word, UINT32_MAX);
}

static void take_part(void *options, const char *word) {
    struct trace_selection *selection = &((struct print_options *)options)->selection;
    read_part(&selection->part, &selection->parts, word);
}

static void take_jobs(void *options, const char *word) {
    ((struct print_options *)options)->jobs = read_jobs(word);
}

static void take_skip(void *options, const char *word) {
    ((struct print_options *)options)->listing.skip = read_number("skip", word, UINT64_MAX);
}

static void take_first(void *options, const char *word) {
    ((struct print_options *)options)->listing.most = read_number("first", word, UINT64_MAX);
}

static const struct option_row rows[] = {
    {"asm", 0, OPTION_FLAG, offsetof(struct print_options, listing.assembly), NULL},
    {"moments", 0, OPTION_FLAG, offsetof(struct print_options, listing.moments), NULL},
    {"expand", 0, OPTION_FLAG, offsetof(struct print_options, selection.expand), NULL},
    {"order", 0, OPTION_PARSED, 0, take_order},
    {"layout", 0, OPTION_LIST, offsetof(struct print_options, selection.layouts), NULL},
    {"process", 0, OPTION_PARSED, 0, take_process},
    {"thread", 0, OPTION_PARSED, 0, take_thread},
    {"function", 0, OPTION_TEXT, offsetof(struct print_options, listing.function), NULL},
    {"from", 0, OPTION_TEXT, offsetof(struct print_options, selection.from), NULL},
    {"to", 0, OPTION_TEXT, offsetof(struct print_options, selection.to), NULL},
    {"part", 0, OPTION_PARSED, 0, take_part},
    {"jobs", 0, OPTION_PARSED, 0, take_jobs},
    {"skip", 0, OPTION_PARSED, 0, take_skip},
    {"first", 0, OPTION_PARSED, 0, take_first},
    {"format", 0, OPTION_PARSED, 0, take_format},
    {"no-pager", 0, OPTION_FLAG, offsetof(struct print_options, no_pager), NULL},
    {"output", 'o', OPTION_TEXT, offsetof(struct print_options, output), NULL},
};

static const struct command_line command_line = {"print", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

/* Lists a part of a thread, in a process of --jobs. */
static const char *list_task(void *context, const struct trace_task *task, FILE *out) {
    struct listing_options options = *(const struct listing_options *)context;
    options.begun = !task->begins_output;
    options.continues = !task->begins_thread;
    struct listing *listing = begin_listing(&options, out);
    const char *fault = list_thread(listing, task->trace, task->thread);
    end_listing(listing);
    return fault;
}

/* Whether the rows of a part do not depend on those in front of it. */
static bool can_be_divided(const struct print_options *options) {
    const struct listing_options *listing = &options->listing;
    return !listing->global && !listing->skip && listing->most == UINT64_MAX;
}

/* Lists THREADS in this process. Returns the exit status. */
static int list_all(struct listing_options *options, struct trace *trace,
                    const struct traced_thread **threads, FILE *out) {
    struct listing *listing = begin_listing(options, out);
    int status = 0;
    if (options->global)
        status = !list_in_order(listing, trace, threads, report_trace_fault);
    for (; !options->global && *threads && !ferror(out); threads++) {
        const char *fault = list_thread(listing, trace, *threads);
        if (fault) {
            report_trace_fault(trace, *threads, fault);
            status = 1;
        }
    }
    end_listing(listing);
    return status;
}

int cmd_print(int argc, char **argv) {
    struct arena arena = {0};
    struct print_options options = {.output = "-", .listing.most = UINT64_MAX};
    int status, first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    if (first + 1 != argc)
        die("name one trace; 'quipu print --help' tells more");
    if (options.jobs > 1 && options.selection.parts)
        die("--jobs is for a whole trace; leave it out with --part");
    struct trace *trace = open_trace(&arena, argv[first]);
    options.selection.ordered = options.listing.global;
    const struct traced_thread **threads = select_threads(&arena, trace, options.selection);
    if (options.listing.switches && !trace->schedule)
        die("--order=schedule: '%s' has no schedule; record it with 'quipu trace --schedule'",
            argv[first]);
    if (options.listing.function)
        need_function(trace, options.listing.function);
    FILE *out = begin_raw_output(options.output);
    if (!options.no_pager)
        start_pager(out);
    if (options.jobs > 1 && can_be_divided(&options) && !trace->between)
        status = write_by_jobs(options.jobs, trace, threads, out, list_task, &options.listing);
    else
        status = list_all(&options.listing, trace, threads, out);
    end_output(out, options.output);
    if (options.listing.most == UINT64_MAX)
        need_moments(trace);
    trace_close(trace);
    arena_release(&arena);
    return status;
}
