/* when.c: quipu when EXPRESSION [--] PROGRAM ARGS: finds the first moment of a run at which an
 * expression becomes true. */
#include "cmd/when.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/on_stop.h"
#include "cmd/recorded_run.h"
#include "cmd/temporary_data.h"

#include "moment/approach.h"
#include "moment/search.h"
#include "report/json_writer.h"
#include "report/output.h"
#include "report/style.h"
#include "symbols/loop_forms.h"
#include "symbols/moment_name.h"
#include "util/clock.h"
#include "util/diag.h"
#include "util/path.h"
#include "util/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct when_options {
    bool exact, json;
    const char *command; /* to run at the moment, or NULL */
    const char *from;    /* begin of the search, or NULL */
    const char *process; /* of a recording, or NULL */
};

static void print_help(void) {
    fputs(
        "usage: quipu when [OPTIONS] EXPRESSION [--] PROGRAM [ARGS]\n"
        "       quipu when [OPTIONS] EXPRESSION RECORDING\n\n"
        "Runs PROGRAM, which 'quipu cc --quipu=moment -g' built, and finds the first moment at\n"
        "which the C expression EXPRESSION becomes true: thread, moment, line, instruction. Or\n"
        "finds it in the run that 'quipu record' recorded, of any program with debug\n"
        "information.\n\n"
        "EXPRESSION names globals, statics as FILE:NAME or FUNCTION::NAME, fields, elements,\n"
        "what pointers point to; it has C's operators, but changes and calls nothing.\n\n"
        "      --exact         see each write, however long it takes: the expression is true at\n"
        "                      no earlier moment, not even for an instant\n" EXEC_HELP
        "      --from=PLACE    begin when FUNCTION or FILE:LINE is first reached, such as\n"
        "                      --from=main, behind all constructors\n"
        "      --process=NAME  of a recording: look in this process, as 'quipu info' names it; in\n"
        "                      the first one with debug information where none is named\n"
        "      --format=FORMAT text (default) or json\n"
        "      --help          print this\n",
        stdout);
}

/* ---- progress ---- */

static bool drawn;

/* Prints the progress of the division: the logarithm of the rest decreases evenly. */
static void print_bar(const struct search *search) {
    enum {
        WIDTH = 30 /* twice as many ticks for each */
    };
    char bar[WIDTH + 1] = "";
    for (size_t i = 0; i < WIDTH; i++)
        bar[i] = (search->limit - search->lo.ticks) >> (WIDTH - i) ? '.' : '#';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[Kcoming closer [%s] %" PRIu64 " parts run again, %" PRIu64 " steps",
            bar, search->tries, search->steps);
}

static void draw(const struct search *search) {
    static double last;
    double now = clock_seconds();
    if (now - search->begun < 0.5 || now - last < 0.1)
        return;
    if (search->limit)
        print_bar(search);
    else
        fprintf(stderr, "\r\033[Krunning: %.1f s, %" PRIu64 " intervals, %" PRIu64 " checkpoints",
                now - search->begun, search->intervals, search->checkpoints);
    fflush(stderr);
    last = now;
    drawn = true;
}

static void wipe(void) {
    if (drawn)
        fputs("\r\033[K", stderr);
}

/* ---- results ---- */

static const char *moment_of(struct search *search) {
    if (search->moment)
        return search->moment;
    return search->place ? moment_text(search->arena, search->run.binary,
                                       recorded_form(search->run.binary, search->place),
                                       search->ticks, search->thread)
                         : arena_print(search->arena, "outside@%" PRIu64 "/%" PRIu64, search->ticks,
                                       search->thread);
}

static const char *line_of(struct search *search) {
    return search->place ? line_text(search->arena, search->run.binary, search->place) : "";
}

/* Returns the location of the instruction, or "" if it is that of the moment. */
static const char *elsewhere(struct search *search) {
    uint64_t address = search->address - search->run.bias;
    if (search->place == address || !search->address)
        return "";
    if (!binary_segment(search->run.binary, address))
        return "in a library";
    return arena_print(search->arena, "in %s",
                       place_text(search->arena, search->run.binary, address));
}

/* Returns the function and line whose call has led to code that is not instrumented, or "" if there
 * is no such call. */
static const char *caller_of(struct search *search) {
    const struct binary *binary = search->run.binary;
    const struct symbol *function = search->caller ? binary_function(binary, search->caller) : NULL;
    const char *line = function ? line_text(search->arena, binary, search->caller) : "";
    return function ? arena_print(search->arena, *line ? "%s  %s" : "%s", function->name, line)
                    : "";
}

static void print_search(const struct search *search) {
    if (search->moment) {
        printf("  searched     %" PRIu64 " event%s, %" PRIu64 " writes seen\n", search->events,
               search->events == 1 ? "" : "s", search->writes);
        return;
    }
    printf("  searched     %" PRIu64 " interval%s, %" PRIu64 " checkpoint%s, %" PRIu64
           " part%s run again, %" PRIu64 " steps, %" PRIu64 " writes seen\n",
           search->intervals, search->intervals == 1 ? "" : "s", search->checkpoints,
           search->checkpoints == 1 ? "" : "s", search->tries, search->tries == 1 ? "" : "s",
           search->steps, search->writes);
    if (search->in_turns)
        printf("               from the second thread on: one thread at a time, each write seen\n");
}

static void print_text(struct search *search, bool from_start) {
    const char *line = line_of(search), *where = elsewhere(search);
    const char *caller = caller_of(search);
    print_line(stdout, "'%s' %s", search->expression->text,
               from_start ? "is true from the start" : "becomes true");
    print_line(stdout, "  moment       %s%s%s", moment_of(search), *line ? "  " : "", line);
    if (!from_start)
        print_line(stdout, "  instruction  %s%s%s", search->instruction, *where ? ", " : "", where);
    if (*caller)
        print_line(stdout, "  called by    %s", caller);
    for (size_t i = 0; i < search->changes.count; i++) {
        const struct change *change = &search->changes.data[i];
        bool same = strcmp(change->before, change->after) == 0;
        print_line(stdout, "  %-11s  %s%s%s", change->name, change->before, same ? "" : ", then ",
                   same ? "" : change->after);
    }
    print_search(search);
    if (!from_start && !search->watching)
        printf("  not all writes were seen: it may have been true for less than an interval "
               "before\n");
}

static void print_json(struct search *search, bool from_start) {
    struct json_writer json = json_start(stdout, 2);
    json_open_object(&json, NULL);
    json_string(&json, "expression", search->expression->text);
    json_bool(&json, "from_start", from_start);
    json_string(&json, "moment", moment_of(search));
    json_unsigned(&json, "thread", search->thread);
    json_unsigned(&json, "ticks", search->ticks);
    json_string(&json, "line", line_of(search));
    json_string(&json, "instruction", from_start ? "" : search->instruction);
    json_string(&json, "elsewhere", elsewhere(search));
    json_string(&json, "caller", caller_of(search));
    json_open_array(&json, "values");
    for (size_t i = 0; i < search->changes.count; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "name", search->changes.data[i].name);
        json_string(&json, "before", search->changes.data[i].before);
        json_string(&json, "after", search->changes.data[i].after);
        json_close(&json);
    }
    json_close(&json);
    json_bool(&json, "all_writes_seen", from_start || search->watching);
    json_bool(&json, "in_turns", search->in_turns);
    json_unsigned(&json, "intervals", search->intervals);
    json_unsigned(&json, "checkpoints", search->checkpoints);
    json_unsigned(&json, "parts_run_again", search->tries);
    json_unsigned(&json, "steps", search->steps);
    json_unsigned(&json, "writes", search->writes);
    json_close(&json);
    json_end(&json);
}

static void report_never(const struct search *search) {
    int status = search->run.status;
    char how[64], unknown[128] = "";
    snprintf(how, sizeof how, WIFSIGNALED(status) ? "signal %d" : "exit status %d",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (search->unknown)
        snprintf(unknown, sizeof unknown,
                 "; at %" PRIu64 " of %" PRIu64
                 " looks it had no value (memory that is not there, or a division by 0)",
                 search->unknown, search->looks);
    error("'%s': it was true at none of %" PRIu64 " looks, and the program has ended (%s)%s%s",
          search->expression->text, search->looks, how, unknown,
          search->watching ? ""
                           : "; not all writes were seen, so it may have been true for less than "
                             "an interval");
}

/* ---- the command ---- */

static const char *open_program(struct arena *arena, const char *path, struct binary **binary) {
    const char *wrong = binary_open(arena, path, binary);
    return wrong ? wrong : check_program(*binary);
}

void find_begin(struct arena *arena, const struct binary *binary, const char *text,
                address_list *from) {
    struct moment_name name;
    if (!text)
        return;
    const char *wrong = read_moment(arena, arena_print(arena, "%s@0", text), &name);
    if (!wrong)
        wrong = find_places(arena, binary, &name, from);
    if (wrong)
        die("'--from=%s': %s", text, wrong);
}

/* Runs COMMAND on the process, which is stopped directly behind the instruction of the moment.
 * Returns the exit status. */
static int run_command(struct search *search, const char *command) {
    pid_t thread = search->standing, process = thread ? leave_search(search) : 0;
    if (process)
        return run_on_stop(command, process, thread);
    error("'%s': nothing is left of the program to run '%s' on", search->expression->text, command);
    return 1;
}

/* Prints the result, and runs the command if there is one. Returns the exit status. */
static int tell(struct search *search, enum outcome outcome, const struct when_options *options) {
    if (outcome == OUTCOME_NEVER)
        report_never(search);
    else if (outcome == OUTCOME_FAILED && *search->wrong)
        error("'%s': %s", search->expression->text, search->wrong);
    if (outcome != OUTCOME_FOUND && outcome != OUTCOME_FROM_START)
        return 1;
    (options->json ? print_json : print_text)(search, outcome == OUTCOME_FROM_START);
    return options->command ? run_command(search, options->command) : 0;
}

static int tell_recorded(struct search *search, enum outcome outcome, const void *options) {
    int status = tell(search, outcome, options);
    end_output(stdout, "-");
    return status;
}

static int look_for(const char *text, char **argv, const struct when_options *options) {
    struct arena arena = {0};
    struct binary *binary = NULL;
    struct variables variables;
    struct expression expression;
    address_list from = {0};
    size_t where = 0;
    const char *path = find_program(&arena, argv[0]);
    if (!path)
        die("'%s': no such program; give its path", argv[0]);
    const char *wrong = open_program(&arena, path, &binary);
    if (!wrong)
        wrong = read_variables(&arena, binary, &variables);
    if (wrong)
        die("'%s': %s", path, wrong);
    wrong = parse_expression(&arena, &variables, text, &expression, &where);
    if (wrong)
        die_at(text, where, wrong);
    find_begin(&arena, binary, options->from, &from);
    use_temporary_data("quipu-when-"); /* the counts of this run are not kept */
    struct search search = {.arena = &arena,
                            .expression = &expression,
                            .run = {.binary = binary},
                            .from = &from,
                            .exact = options->exact,
                            .progress = is_smart_terminal(stderr) ? draw : NULL};
    enum outcome outcome = search_moment(&search, argv);
    wipe();
    int status = tell(&search, outcome, options);
    end_search(&search);
    binary_close(binary);
    arena_release(&arena);
    end_output(stdout, "-");
    return status;
}

static void take_format(void *options, const char *word) {
    ((struct when_options *)options)->json = wants_json(word);
}

static const struct option_row rows[] = {
    {"exact", 0, OPTION_FLAG, offsetof(struct when_options, exact), NULL},
    {"exec", 0, OPTION_TEXT, offsetof(struct when_options, command), NULL},
    {"format", 0, OPTION_PARSED, 0, take_format},
    {"from", 0, OPTION_TEXT, offsetof(struct when_options, from), NULL},
    {"process", 0, OPTION_TEXT, offsetof(struct when_options, process), NULL},
};

static const struct command_line command_line = {"when", print_help, rows,
                                                 sizeof rows / sizeof *rows, true};

int cmd_when(int argc, char **argv) {
    struct when_options options = {0};
    int expression = take_options(&command_line, argc, argv, &options);
    if (!expression)
        return 0;
    if (expression == argc)
        die("no expression to look for; 'quipu when --help' tells how");
    int more = take_options(&command_line, argc - expression, argv + expression, &options);
    if (!more)
        return 0;
    if (expression + more == argc)
        die("no program to run; 'quipu when --help' tells how");
    if (is_recorded_run(argv + expression + more)) {
        if (options.command)
            die("--exec is not for recordings; 'quipu replay --at=MOMENT' leads gdb to the moment");
        return when_in_recording(argv[expression], argv[expression + more], options.process,
                                 options.from, tell_recorded, &options);
    }
    if (options.process)
        die(PROCESS_NEEDS_RECORDING);
    return look_for(argv[expression], argv + expression + more, &options);
}
