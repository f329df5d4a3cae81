/* watch.c: quipu watch -e EXPRESSION... [--] PROGRAM ARGS, or --pid PID: reports each write to an
 * object.
 *
 * The exit status is the program's, or 0 for a program that ran already. It is 1 if the program was
 * not started or watched, or if something was written that must not be. */
#include "cmd/watch.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/on_stop.h"
#include "cmd/process_number.h"
#include "cmd/recorded_run.h"
#include "cmd/watch_page.h"
#include "cmd/watch_summary.h"

#include "report/output.h"
#include "symbols/demangle.h"
#include "symbols/line_table.h"
#include "util/diag.h"
#include "util/near.h"
#include "util/path.h"
#include "watch/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_help(void) {
    fputs(
        "usage: quipu watch [OPTIONS] -e EXPRESSION [-e EXPRESSION]... [--] PROGRAM [ARGS]\n"
        "       quipu watch [OPTIONS] -e EXPRESSION [-e EXPRESSION]... --pid=PID\n"
        "       quipu watch [OPTIONS] -e EXPRESSION [-e EXPRESSION]... RECORDING\n\n"
        "Runs PROGRAM, which 'quipu cc --quipu=watch -g' built, and tells of each write to the\n"
        "objects that are named: old and new value, function, line, instruction. Or tells of\n"
        "those of the run that 'quipu record' recorded, of any program with debug information.\n\n"
        "EXPRESSION names a global, a static as FILE:NAME or FUNCTION::NAME, a local or parameter\n"
        "as FUNCTION::NAME, a thread-local variable, one of a shared object as LIBRARY.so:NAME, a\n"
        "field, an element, a slice as buffer[0..4095], what a pointer points to, also behind a\n"
        "cast, or bytes as ADDRESS:LENGTH; heap:FILE:LINE the blocks of the heap that calls in\n"
        "that line allocate.\n\n"
        "  -e, --expression=EXPRESSION\n"
        "                      watch that\n"
        "      --pid=PID       watch process PID, which runs already, until it ends or we are\n"
        "                      interrupted; it then runs on\n"
        "      --program=FILE  PROGRAM runs FILE, which the names are of: a debugger, a script\n"
        "      --process=NAME  of a recording: watch this process, as 'quipu info' names it; the\n"
        "                      first one with debug information where none is named\n"
        "      --heap=FILE:LINE[FIRST..LAST]\n"
        "                      watch the blocks that the line allocates, also after they have been\n"
        "                      freed; or the bytes from FIRST to LAST of each\n"
        "      --never-written=EXPRESSION\n"
        "                      watch that, and end with status 1 if it is written\n"
        "      --guard=EXPRESSION\n"
        "                      watch that, tell of writes by what is not allowed with their calls,\n"
        "                      and end with status 1\n"
        "      --allow=NAME    the function, source file or module NAME may write what is guarded\n"
        "      --fatal         end the program by SIGABRT at a write that must not be\n"
        "      --follow        where a pointer leads to the object: go along when it changes\n"
        "      --if=CONDITION  only writes of which that C condition is true; 'old' and 'new' are\n"
        "                      the values, other names are the program's variables; of several\n"
        "                      conditions all\n"
        "      --limit=N       tell N writes, then let the program run on\n"
        "      --summary       at the end, who wrote it and how often, instead of each write\n"
        "      --backtrace     the calls that each write is in\n"
        "      --long          process, thread, address and bytes, too\n"
        "      --stop          stop the program right behind the first write, in gdb; where there\n"
        "                      is no terminal or no gdb, by SIGTRAP\n"
        "      --exec=COMMAND  run COMMAND by the shell at each write, while its thread waits; with\n"
        "                      --stop where the program has stopped\n"
        "      --format=FORMAT text (default) or json, an object a line; of a summary csv, too;\n"
        "                      html with --log: a page for a browser\n"
        "      --to=FORMAT     the same\n"
        "      --log=FILE      write to FILE instead of standard error\n"
        "      --help          print this\n\n"
        "Exit status: the program's, or 0 with --pid; 1 where it was not started or watched, or\n"
        "something was written that must not be.\n",
        stdout);
}

/* ---- options ---- */

static void take_expression(void *options, const char *value) {
    struct watch_options *watch = options;
    vector_push(&watch->arena, &watch->named, ((struct named){value, false, false}));
}

static void take_heap(void *options, const char *value) {
    struct watch_options *watch = options;
    take_expression(options, arena_print(&watch->arena, "heap:%s", value));
}

static void take_promise(void *options, const char *value) {
    struct watch_options *watch = options;
    vector_push(&watch->arena, &watch->named, ((struct named){value, true, false}));
}

static void take_guard(void *options, const char *value) {
    struct watch_options *watch = options;
    vector_push(&watch->arena, &watch->named, ((struct named){value, true, true}));
    watch->guards = true;
}

static void take_limit(void *options, const char *value) {
    char *end;
    errno = 0;
    unsigned long long limit = strtoull(value, &end, 10);
    if (errno || *end || end == value || *value == '-' || !limit)
        die("'--limit=%s': it must be a number of hits from 1", value);
    ((struct watch_options *)options)->limit = limit;
}

static const struct option_row rows[] = {
    {"expression", 'e', OPTION_PARSED, 0, take_expression},
    {"pid", 0, OPTION_TEXT, offsetof(struct watch_options, pid), NULL},
    {"program", 0, OPTION_TEXT, offsetof(struct watch_options, program), NULL},
    {"process", 0, OPTION_TEXT, offsetof(struct watch_options, process), NULL},
    {"heap", 0, OPTION_PARSED, 0, take_heap},
    {"never-written", 0, OPTION_PARSED, 0, take_promise},
    {"guard", 0, OPTION_PARSED, 0, take_guard},
    {"allow", 0, OPTION_LIST, offsetof(struct watch_options, allowed), NULL},
    {"fatal", 0, OPTION_FLAG, offsetof(struct watch_options, fatal), NULL},
    {"follow", 0, OPTION_FLAG, offsetof(struct watch_options, follow), NULL},
    {"if", 0, OPTION_LIST, offsetof(struct watch_options, conditions), NULL},
    {"limit", 0, OPTION_PARSED, 0, take_limit},
    {"summary", 0, OPTION_FLAG, offsetof(struct watch_options, summary), NULL},
    {"backtrace", 0, OPTION_FLAG, offsetof(struct watch_options, backtrace), NULL},
    {"long", 0, OPTION_FLAG, offsetof(struct watch_options, longer), NULL},
    {"stop", 0, OPTION_FLAG, offsetof(struct watch_options, stop), NULL},
    {"exec", 0, OPTION_TEXT, offsetof(struct watch_options, command), NULL},
    {"format", 0, OPTION_TEXT, offsetof(struct watch_options, format), NULL},
    {"to", 0, OPTION_TEXT, offsetof(struct watch_options, format), NULL},
    {"log", 0, OPTION_TEXT, offsetof(struct watch_options, log), NULL},
};

static const struct command_line command_line = {"watch", print_help, rows,
                                                 sizeof rows / sizeof *rows, true};

/* ---- the watched objects ---- */

/* Ends the program with an error if PROCESS (if not 0) cannot be watched any more. If it has ended,
 * its modules cannot be found, and this is the message that gives the reason. */
static void check_running(struct session *session, pid_t process) {
    struct quipu_watch_area area;
    const char *wrong = process ? read_area(&session->arena, process, &area) : NULL;
    if (wrong)
        die("process %d: %s", (int)process, wrong);
}

/* Ends the program with an error if the program that is started cannot be watched. Mostly it is one
 * that starts another, such as env or a shell. */
static void check_program(struct session *session) {
    const char *wrong = check_watchable(&session->libraries, NULL, 0);
    if (wrong)
        die("'%s': %s; or name the program that it starts by '--program'", session->file, wrong);
}

static void read_named(struct session *session, const struct watch_options *options,
                       const struct named *named) {
    struct watched watched;
    size_t where = 0;
    const char *wrong = read_watched(&session->libraries, named->text, &watched, &where);
    if (wrong)
        check_running(session, session->libraries.process);
    if (wrong && !session->binary->dwarf && !session->libraries.process)
        check_program(session);
    if (wrong)
        die_at(named->text, where, wrong);
    watched.is_violation = named->is_violation;
    watched.is_guarded = named->is_guarded;
    for (size_t i = 0; i < options->conditions.count; i++) {
        const char *condition = options->conditions.data[i];
        wrong = read_condition(&session->arena, condition, &watched, &where);
        if (wrong)
            die_at(condition, where, wrong);
    }
    unsigned unwatched = count_unwatched(&watched);
    if (unwatched)
        warn("'%s': its function is inlined in %u place%s where it has no place in memory, and is "
             "not watched; -fno-inline would keep it a function",
             named->text, unwatched, unwatched == 1 ? "" : "s");
    vector_push(&session->arena, &session->watched, watched);
}

static void read_all(struct session *session, const struct watch_options *options, pid_t process) {
    begin_libraries(&session->arena, session->file, session->binary, process, &session->libraries);
    for (size_t i = 0; i < options->named.count; i++)
        read_named(session, options, &options->named.data[i]);
    const char *wrong =
        check_watchable(&session->libraries, session->watched.data, session->watched.count);
    if (wrong && process)
        die("process %d: %s", (int)process, wrong);
    else if (wrong)
        die("'%s': %s", session->file, wrong);
}

/* FILE is the program that STARTED runs; NULL: STARTED itself. */
static void open_program(struct session *session, const char *started, const char *file) {
    session->started = find_program(&session->arena, started);
    if (!session->started)
        die("'%s': no such program; give its path", started);
    session->file = session->started;
    if (file) /* the loader would search its directories for a name without a slash */
        session->file = strchr(file, '/') ? file : arena_print(&session->arena, "./%s", file);
    const char *wrong = binary_open(&session->arena, session->file, &session->binary);
    if (wrong)
        die("'%s': %s", session->file, wrong);
}

/* Opens the program by /proc: its path may belong to another file by now, or to none. */
static void open_running(struct session *session, pid_t process) {
    char path[64], name[4096];
    struct quipu_watch_area area = {0};
    const char *wrong = read_area(&session->arena, process, &area);
    pid_t other = wrong ? 0 : find_consumer(process, &area);
    if (other)
        die("process %d: process %d watches it", (int)process, (int)other);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
    ssize_t size = readlink(path, name, sizeof name);
    session->file = size > 0 ? arena_copy(&session->arena, name, (size_t)size) : "";
    if (!wrong) {
        wrong = binary_open(&session->arena, path, &session->binary);
        if (wrong)
            check_running(session, process);
    }
    if (wrong)
        die("process %d: %s", (int)process, wrong);
}

/* ---- hits ---- */

static void set_variable(const char *name, const char *value) {
    if (setenv(name, value, 1) != 0)
        die("cannot set %s: %s", name, strerror(errno));
}

/* Sets the environment variables of a command. */
static void tell_of_hit(const struct hit_report *report) {
    struct buffer name = {0}, old = {0}, now = {0};
    char number[32];
    print_name(report, &name);
    print_values(report, &old, &now);
    snprintf(number, sizeof number, "%" PRIu64, report->number);
    set_variable("QUIPU_HIT", number);
    set_variable("QUIPU_NAME", name.data);
    set_variable("QUIPU_OLD", old.data);
    set_variable("QUIPU_NEW", now.data);
    set_variable("QUIPU_FUNCTION", report->writer->function);
    set_variable("QUIPU_LINE", report->writer->place);
    unsetenv("QUIPU_WATCH"); /* the command is not the watched program */
    buffer_release(&name);
    buffer_release(&old);
    buffer_release(&now);
}

static void run_at_hit(const void *context, const struct hit_report *report) {
    tell_of_hit(report);
    run_on_stop(context, (pid_t)report->hit->record.pid, (pid_t)report->hit->record.thread);
}

static pid_t start_at_stop(const void *context, const struct hit_report *report) {
    struct arena arena = {0};
    pid_t process = (pid_t)report->hit->record.pid, thread = (pid_t)report->hit->record.thread;
    tell_of_hit(report);
    const char *command = context ? context : gdb_on_stop(&arena, process, thread, false);
    pid_t started = start_on_stop(command, process, thread);
    arena_release(&arena);
    return started;
}

int open_log(const char *path) {
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDERR_FILENO;
    if (fd < 0)
        die("cannot write '%s': %s", path, strerror(errno));
    return fd;
}

static const char *format_name_at(size_t i) {
    static const char *const names[] = {"text", "json", "html"};
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

/* Sets in which format hits are written. */
void set_format(struct session *session, const struct watch_options *options) {
    size_t number = options->format && !options->summary
                        ? choose_name("--format", "format", options->format, format_name_at)
                        : 0;
    session->format.json = number > 0;
    session->format.markup = number > 1;
    session->format.longer = options->longer;
    if (session->format.markup && !options->log)
        die("the page needs a file; give it with --log");
}

static struct watch_page begin_page(const struct session *session,
                                    const struct watch_options *options, char *const *argv) {
    struct arena arena = {0};
    const char **expressions = ARENA_ARRAY(&arena, const char *, options->named.count);
    for (size_t i = 0; i < options->named.count; i++)
        expressions[i] = options->named.data[i].text;
    struct watch_page page =
        begin_watch_page(session->fd, argv, options->pid, expressions, options->named.count);
    arena_release(&arena);
    return page;
}

/* ---- the command ---- */

/* Writes the table to the file for hits. */
void summarize(const struct session *session, const struct table_format *format) {
    FILE *out = session->fd == STDERR_FILENO ? stderr : fdopen(session->fd, "w");
    if (!out)
        die("cannot write the summary: %s", strerror(errno));
    print_summary(session, format, out);
    end_output(out, session->log);
}

/* Offers the name of a possible writer. Returns whether it is the wanted one. */
static bool offer_writer(struct near_names *near_names, const char *name) {
    offer_name(near_names, name);
    return strcmp(name, near_names->wanted) == 0;
}

/* Offers all names that writers may have. Returns whether one of them is the wanted one. */
static bool offer_writers(struct arena *arena, const struct session *session,
                          struct near_names *near_names) {
    const struct line_table *lines = binary_lines(session->binary);
    bool has = false;
    for (size_t i = 0; i < session->binary->names.count; i++)
        has |= offer_writer(near_names, plain_name(arena, session->binary->names.data[i].name));
    for (size_t i = 1; i < lines->files.count; i++)
        has |= offer_writer(near_names, last_part(lines->files.data[i]));
    return has;
}

/* Reports the writes that must not be, and allowed names that no writer had. Such a name may be a
 * mistake. It may also belong to a module that was not loaded. So it is reported only together with
 * such writes. A program that was ended early may not have come to a writer that it has. */
void report_violations(const struct session *session) {
    struct arena arena = {0};
    for (size_t i = 0; i < session->writers.allowed.count; i++) {
        const struct allowed_name *allowed = &session->writers.allowed.data[i];
        struct near_names near_names = {.wanted = allowed->name};
        if (allowed->has_written)
            continue;
        bool is_writer = offer_writers(&arena, session, &near_names);
        if (!is_writer || !session->options.fatal)
            warn("'%s' is allowed, but no function, source file or module of that name has "
                 "written%s",
                 allowed->name, is_writer ? "" : suggest(&arena, &near_names));
    }
    arena_release(&arena);
    error("%" PRIu64 " write%s that must not be", session->violations,
          session->violations == 1 ? "" : "s");
}

static int status_of(const struct session *session) {
    int status = session->program.status;
    if (session->violations)
        report_violations(session);
    if (session->violations || session->is_lost || session->is_failed)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int watch(const struct watch_options *options, char **argv) {
    const struct table_format *table =
        options->summary ? choose_table_format(options->format ? options->format : "text") : NULL;
    bool runs = options->command || (options->stop && can_run_gdb());
    struct session session = {.options = {.stop = options->stop,
                                          .backtrace = options->backtrace,
                                          .follow = options->follow,
                                          .quiet = options->summary,
                                          .fatal = options->fatal,
                                          .limit = options->limit,
                                          .on_hit = runs && !options->stop ? run_at_hit : NULL,
                                          .on_stop = runs && options->stop ? start_at_stop : NULL,
                                          .context = options->command}};
    set_format(&session, options);
    pid_t process = options->pid ? read_process_number(options->pid) : 0;
    if (process)
        open_running(&session, process);
    else
        open_program(&session, argv[0], options->program);
    read_all(&session, options, process);
    session.fd = open_log(options->log);
    session.log = options->log ? options->log : "standard error";
    for (size_t i = 0; i < options->allowed.count; i++)
        vector_push(&session.writers.arena, &session.writers.allowed,
                    ((struct allowed_name){options->allowed.data[i], false}));
    struct watch_page page = {0};
    if (session.format.markup)
        page = begin_page(&session, options, argv);
    const char *wrong = process ? attach_session(&session, process) : run_session(&session, argv);
    if (wrong && process)
        error("process %d: %s", (int)process, wrong);
    else if (wrong)
        error("%s", wrong);
    else if (table)
        summarize(&session, table);
    if (session.format.markup)
        end_watch_page(&page, session.log);
    int status = wrong ? 1 : status_of(&session);
    binary_close(session.binary);
    end_session(&session);
    return status;
}

/* Whether any object must not be written. */
static bool has_violations(const struct watch_options *options) {
    bool has = false;
    for (size_t i = 0; i < options->named.count; i++)
        has |= options->named.data[i].is_violation;
    return has;
}

int cmd_watch(int argc, char **argv) {
    struct watch_options options = {0};
    int program = take_options(&command_line, argc, argv, &options);
    if (!program)
        return 0;
    if (options.pid && program < argc)
        die("'--pid' watches what runs already; '%s' is not started", argv[program]);
    if (options.pid && options.program)
        die("'--pid' says which program it is; leave '--program' out");
    if (program == argc && !options.pid)
        die("no program to run; 'quipu watch --help' tells how");
    if (options.allowed.count && !options.guards)
        die("'--allow' is for what is guarded; name that with --guard");
    if (options.fatal && !has_violations(&options))
        die("'--fatal' is for what must not be written; name that with --guard or --never-written");
    if (!options.named.count)
        die("nothing to watch; name it with -e, as 'quipu watch --help' tells");
    bool is_recording = !options.pid && is_recorded_run(argv + program);
    if (options.process && !is_recording)
        die(PROCESS_NEEDS_RECORDING);
    int status =
        is_recording ? watch_recording(&options, argv[program]) : watch(&options, argv + program);
    arena_release(&options.arena);
    return status;
}
