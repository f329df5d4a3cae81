/* session.c: one run of a program that is watched; see session.h. */
#include "watch/session.h"

#include "symbols/backtrace.h"
#include "tracee/held_thread.h"
#include "tracee/tracee.h"
#include "util/clock.h"
#include "util/refusal.h"
#include "watch/attach.h"
#include "watch/follow.h"
#include "x86/thread.h"

#include <dirent.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    OUT_SIZE = 1 << 16, /* bytes of text that are collected before they are written */
    SLEEP = 20,         /* milliseconds between two looks at the program */
    NAPS = 20,          /* short sleeps after a hit; later the program has to wake quipu */
    LIMIT_WAITS = 1000, /* up to this limit writers wait, so that no hit beyond it is made */
    STUCK = 2000,       /* milliseconds after which an incomplete record is abandoned */
    STUCK_AT_END = 200, /* the same, once the program has ended */
    UNWINDERS_MAX = 8,  /* each keeps files open */
};

/* Whether hits of WATCHED are reported with a backtrace. */
static bool wants_calls(const struct session_options *options, const struct watched *watched) {
    return options->backtrace || (watched->is_violation && !options->quiet);
}

uint32_t flags_of(const struct session *session, const struct watched *watched) {
    const struct session_options *options = &session->options;
    bool waits = options->stop || wants_calls(options, watched) || options->on_hit ||
                 watched->reads_program || (options->fatal && watched->is_violation) ||
                 (options->limit && options->limit <= LIMIT_WAITS);
    return (waits ? QUIPU_REQUEST_WAITS : 0) | (watched->only_changes ? QUIPU_REQUEST_CHANGES : 0) |
           (watched->has_condition ? QUIPU_REQUEST_MORE : 0) |
           (watched->is_guarded ? QUIPU_REQUEST_GUARDED : 0);
}

uint32_t ask(struct session *session, const struct quipu_watch_request *request, struct role role) {
    uint32_t number = ring_ask(&session->ring, request);
    if (number == REQUESTS_MAX)
        error("'%s': more than %d regions are asked for; it is not watched",
              session->watched.data[role.watched].text, REQUESTS_MAX);
    else
        session->roles[number] = role;
    return number;
}

/* Returns the load address of BINARY in PROCESS minus its address as linked; 0 if it is not
 * loaded. */
static uint64_t bias_in(struct session *session, const struct binary *binary, uint32_t process) {
    struct module_bias *known = &session->known_bias;
    if (known->binary == binary && known->process == process)
        return known->bias;
    *known = (struct module_bias){binary, process, 0};
    if (binary == session->binary)
        known->bias = program_bias((pid_t)process, session->program.entry);
    else if (!find_bias(binary, (pid_t)process, &known->bias))
        known->binary = NULL; /* it may be loaded later */
    return known->bias;
}

uint64_t bias_for(struct session *session, struct watched *watched, uint32_t process) {
    uint64_t bias = bias_in(session, watched->library->binary, process);
    if (!watched->copies_moved && watched->library != &session->libraries.program)
        move_copies(&session->libraries, watched, bias_in(session, session->binary, process), bias);
    return bias;
}

/* ---- hits ---- */

static void flush(struct session *session) {
    if (session->out.count && !write_whole(session->fd, session->out.data, session->out.count)) {
        session->is_lost = true;
        session->lost_cause = errno;
    }
    session->out.count = 0;
}

/* Removes all regions. Hits that are reported all the same are ignored. */
static void drop_requests(struct session *session) {
    for (uint32_t i = 0; i < session->ring.file->request_count; i++)
        __atomic_store_n(&session->ring.requests[i].state, QUIPU_REQUEST_UNWANTED,
                         __ATOMIC_RELEASE);
}

static void count_hit(const struct hit_report *report) {
    report->writer->hits++;
    report->writer->undecided += report->is_undecided;
    report->writer->changes += memcmp(report->old.bytes, report->now.bytes, report->old.count) != 0;
}

/* The list is in order of age. */
static void drop_unwinder(struct session *session, size_t number) {
    struct process_calls *calls = &session->calls.data[number];
    close_unwinder(calls->unwinder);
    memmove(calls, calls + 1, (--session->calls.count - number) * sizeof *calls);
}

/* The code of PROCESS has changed. */
static void forget_unwinder(struct session *session, uint32_t process) {
    for (size_t i = 0; i < session->calls.count; i++)
        if (session->calls.data[i].process == process) {
            drop_unwinder(session, i);
            return;
        }
}

static struct unwinder *find_unwinder(struct session *session, uint32_t process) {
    for (size_t i = 0; i < session->calls.count; i++)
        if (session->calls.data[i].process == process)
            return session->calls.data[i].unwinder;
    if (session->calls.count == UNWINDERS_MAX)
        drop_unwinder(session, 0);
    struct unwinder *unwinder = open_unwinder((pid_t)process);
    vector_push(&session->arena, &session->calls, ((struct process_calls){process, unwinder}));
    return unwinder;
}

/* Answers the thread that waits at the first hit. Stops its process after the write, and gives it
 * to the command. */
static void stop_there(struct session *session, const struct hit_report *report, uint32_t answer) {
    struct program *program = &session->program;
    pid_t process = (pid_t)report->hit->record.pid, thread = (pid_t)report->hit->record.thread;
    int status;
    flush(session);
    ring_answer(report->hit, answer | QUIPU_ANSWER_TRAP);
    enum held_state state = stop_process_at_trap(process, thread, &status);
    if (state == HELD_RUNS)
        warn("the program has not stopped at the first write: it blocks SIGTRAP");
    if (state == HELD_ENDED && thread == program->process && !program->is_other) {
        program->ended = true;
        program->status = status;
    }
    if (state != HELD_STOPPED)
        return;
    session->has_stopped = session->options.on_stop(session->options.context, report);
    session->stopped = process;
}

/* Continues the stopped process when the command for it has ended. If the program has ENDED, waits
 * for the command. */
static void look_at_stopped(struct session *session, bool ended) {
    pid_t ready = 0;
    if (!session->stopped)
        return;
    if (session->has_stopped)
        while ((ready = waitpid(session->has_stopped, NULL, ended ? 0 : WNOHANG)) < 0 &&
               errno == EINTR)
            continue;
    if (session->has_stopped && !ready)
        return;
    kill(session->stopped, SIGCONT);
    session->stopped = 0;
}

/* Reports a hit. Returns the answer to its thread, or 0 if the thread has got it. */
static uint32_t tell(struct session *session, struct hit_report *report) {
    const struct session_options *options = &session->options;
    const struct quipu_record *record = &report->hit->record;
    struct buffer calls = {0};
    uint32_t answer = QUIPU_ANSWER_GO_ON;
    report->number = ++session->hits;
    session->violations += report->is_violation;
    count_hit(report);
    if (wants_calls(options, report->watched)) {
        if (report->hit->flags & QUIPU_HIT_LATE)
            buffer_text(&calls, "        no backtrace: the change was found later\n");
        else
            add_calls(&session->program, find_unwinder(session, record->pid), &calls,
                      (pid_t)record->thread, report->hit->pc - 1);
        report->backtrace = calls.data;
    }
    if (!options->quiet)
        print_hit(&session->arena, &session->format, report, &session->out);
    if (session->out.count >= OUT_SIZE || session->options.on_hit)
        flush(session);
    if (options->on_hit)
        options->on_hit(options->context, report);
    buffer_release(&calls);
    if (options->fatal && report->is_violation)
        answer |= QUIPU_ANSWER_END;
    if (options->limit && session->hits == options->limit) {
        drop_requests(session);
        answer |= QUIPU_ANSWER_LOOK;
    }
    if (!options->stop || session->hits != 1)
        return answer;
    if (!options->on_stop || answer & QUIPU_ANSWER_END)
        return answer | QUIPU_ANSWER_TRAP;
    if (!hold_thread((pid_t)record->thread)) {
        warn("the program gets SIGTRAP behind the first write, and is not held there: %s",
             refusal(&session->arena, "ptrace", (pid_t)record->thread, errno));
        return answer | QUIPU_ANSWER_TRAP;
    }
    stop_there(session, report, answer);
    return 0;
}

/* Finds the other calls that may have made the change. */
static void find_others(struct session *session, struct hit_report *report, uint32_t watched) {
    for (unsigned i = 0; i < report->candidate_count; i++) {
        const struct quipu_candidate *candidate = &report->candidates[i];
        report->others[i].thread = candidate->thread;
        report->others[i].writer =
            writers_find_call(&session->writers, report->hit->record.pid, candidate->pc, watched);
    }
}

static bool is_any_allowed(const struct hit_report *report) {
    bool is_any = report->writer->is_allowed;
    for (unsigned i = 0; i < report->candidate_count; i++)
        is_any |= report->others[i].writer->is_allowed;
    return is_any;
}

/* Whether HIT, of a guarded object, is by an allowed writer. The runtime reports no further hits of
 * that writer. */
static bool is_allowed(struct session *session, const struct quipu_hit *hit, uint32_t watched) {
    if (!writers_find(&session->writers, hit, watched)->is_allowed)
        return false;
    const struct watch_module *module =
        writers_find_module(&session->writers, hit->record.pid, hit->pc);
    if (module && module->number)
        ring_allow(&session->ring, module->number, hit->pc);
    return true;
}

static uint32_t take_hit(struct session *session, struct quipu_hit *hit) {
    const struct role *role = &session->roles[hit->request];
    struct watched *watched = &session->watched.data[role->watched];
    struct hit_report report;
    uint64_t bias = 0;
    if (role->is_internal)
        return follow_hit(session, role->watched, hit);
    if ((session->options.limit && session->hits >= session->options.limit) ||
        !read_hit(hit, watched, &report) ||
        (watched->is_guarded && is_allowed(session, hit, role->watched) && !report.is_undecided))
        return QUIPU_ANSWER_GO_ON;
    if (watched->reads_program)
        bias = bias_for(session, watched, hit->record.pid);
    if (!is_wanted(watched, &report.old, &report.now, report.begin, report.end,
                   report.block.freed != 0, (pid_t)hit->record.pid, bias))
        return QUIPU_ANSWER_GO_ON;
    report.writer = writers_find(&session->writers, hit, role->watched);
    find_others(session, &report, role->watched);
    bool is_unjudged = watched->is_guarded && report.is_undecided;
    report.is_violation = watched->is_violation && !is_unjudged;
    watched->undecided += is_unjudged;
    if (is_unjudged && is_any_allowed(&report))
        return QUIPU_ANSWER_GO_ON;
    if (report.block.freed > 1)
        report.freed_by = writers_place(&session->writers, hit->record.pid, report.block.freed);
    return tell(session, &report);
}

static void take_record(struct session *session, struct quipu_record *record) {
    struct quipu_hit *hit = (struct quipu_hit *)record;
    if (record->kind == QUIPU_RECORD_MODULE) {
        session->modules++;
        forget_unwinder(session, record->pid);
        session->known_bias.binary = NULL;
        writers_module(&session->writers, (const struct quipu_module_record *)record);
        return;
    }
    if (hit->request >= session->ring.file->request_count)
        return;
    uint32_t answer = take_hit(session, hit);
    if (session->ring.requests[hit->request].flags & QUIPU_REQUEST_WAITS) {
        flush(session);
        if (answer)
            ring_answer(hit, answer);
    }
}

/* ---- the run ---- */

/* Handles all records that are complete. Returns whether there were any. */
static bool take_records(struct session *session) {
    struct quipu_record *record;
    bool any = false;
    while ((record = ring_next(&session->ring))) {
        take_record(session, record);
        ring_done(&session->ring, record);
        any = true;
    }
    return any;
}

/* The next record has been incomplete since STUCK, in seconds; 0: since now. */
static void wait_for_end(struct session *session, double *stuck) {
    double patience = session->program.ended || session->is_left ? STUCK_AT_END : STUCK;
    if (*stuck == 0)
        *stuck = clock_seconds();
    if (ring_is_abandoned(&session->ring) || clock_seconds() - *stuck > patience / 1e3)
        ring_skip(&session->ring);
    else
        ring_sleep(&session->ring, 1);
}

/* Whether any writer waits for answers: then quipu never sleeps long. */
static bool any_waits(const struct session *session) {
    bool any = session->paths != NULL;
    for (size_t i = 0; i < session->watched.count; i++)
        any |= flags_of(session, &session->watched.data[i]) & QUIPU_REQUEST_WAITS;
    return any;
}

static bool has_reached_limit(const struct session *session) {
    return session->options.limit && session->hits >= session->options.limit;
}

/* Whether no further records will come. An attached program is released if a signal or the limit
 * asks for that. */
static bool is_over(struct session *session) {
    if (look_at_program(&session->program) || session->is_left)
        return true;
    if (!session->program.is_other || !(is_leaving() || has_reached_limit(session)))
        return false;
    drop_requests(session);
    const char *wrong = detach_file(&session->arena, session->program.process);
    if (wrong)
        error("process %d still watches, for nobody: %s", (int)session->program.process, wrong);
    session->is_lost |= wrong != NULL;
    return session->is_left = true;
}

static void watch_run(struct session *session) {
    double stuck = 0;
    unsigned naps = 0, naps_most = any_waits(session) ? 0 : NAPS;
    for (;;) {
        bool ended = is_over(session);
        look_at_stopped(session, ended);
        if (take_records(session)) {
            stuck = 0;
            naps = naps_most;
            continue;
        }
        if (naps && !ended) {
            naps--;
            ring_nap();
            continue;
        }
        flush(session);
        if (ring_is_stuck(&session->ring))
            wait_for_end(session, &stuck);
        else if (ended)
            return;
        else
            ring_sleep(&session->ring, SLEEP);
    }
}

/* Reports heap blocks that were not watched, and lines that allocated none. */
static void tell_of_blocks(const struct session *session) {
    for (uint32_t i = 0; i < session->ring.file->request_count; i++) {
        const struct quipu_watch_request *request = &session->ring.requests[i];
        const char *text = session->watched.data[session->roles[i].watched].text;
        if (!(request->flags & QUIPU_REQUEST_BLOCKS) || request->state == QUIPU_REQUEST_FAILED)
            continue;
        if (request->error)
            error("'%s': some blocks were not watched: %s", text, strerror((int)request->error));
        else if (!request->blocks && session->modules)
            warn("'%s': no call in that line has allocated anything", text);
    }
}

/* Warns of thread-local variables that were watched in the main thread only. */
static void tell_of_threads(const struct session *session) {
    for (uint32_t i = 0; i < session->ring.file->request_count; i++) {
        const struct quipu_watch_request *request = &session->ring.requests[i];
        if (request->flags & QUIPU_REQUEST_THREADS && request->error &&
            request->state != QUIPU_REQUEST_FAILED)
            warn("'%s': only the main thread's was watched; it cannot be told when others begin in "
                 "a static executable",
                 session->watched.data[session->roles[i].watched].text);
    }
}

/* Reports REQUEST if it was not fulfilled. */
static void tell_failure(struct session *session, const struct quipu_watch_request *request,
                         const struct watched *watched) {
    if (request->state == QUIPU_REQUEST_WANTED && request->build_id_size && session->modules)
        warn("'%s' was not watched: the program has not loaded '%s'", watched->text,
             watched->library->path);
    if (request->state != QUIPU_REQUEST_FAILED)
        return;
    error("'%s' was not watched: %s", watched->text, strerror((int)request->error));
    session->is_failed |=
        !watched->object.path.objects.count; /* a wrong pointer is the program's */
}

/* Warns of changes of guarded objects whose writer is not known. */
static void tell_undecided(const struct session *session) {
    for (size_t i = 0; i < session->watched.count; i++) {
        const struct watched *watched = &session->watched.data[i];
        if (watched->undecided)
            warn("'%s': %llu change%s may be of any of several calls, or of code that is not "
                 "known: nobody is accused",
                 watched->text, (unsigned long long)watched->undecided,
                 watched->undecided == 1 ? "" : "s");
    }
}

static void tell_failures(struct session *session) {
    for (uint32_t i = 0; i < session->ring.file->request_count; i++)
        tell_failure(session, &session->ring.requests[i],
                     &session->watched.data[session->roles[i].watched]);
    tell_of_blocks(session);
    tell_of_threads(session);
    tell_undecided(session);
    if (!session->modules && !session->program.is_other) {
        error("nothing was watched: no code of '%s' that tells of writes has run", session->file);
        session->is_failed = true;
    }
    if (session->ring.lost)
        warn("%llu bytes of hits are lost: a process ended while it wrote them, or wrote over them",
             (unsigned long long)session->ring.lost);
    if (session->lost_cause)
        error("cannot write '%s': %s; hits are missing", session->log,
              strerror(session->lost_cause));
}

/* Requests object NUMBER; of a local, in frame number PLACE. A running process gets absolute
 * addresses. For heap blocks these are the addresses of the line's code, because `address` is
 * relative to each block. */
static bool ask_for(struct session *session, uint32_t number, size_t place) {
    const struct watched *watched = &session->watched.data[number];
    struct quipu_watch_request request = request_for(watched, place, flags_of(session, watched));
    uint64_t bias = 0;
    if (session->program.is_other && request.build_id_size) {
        bias = bias_in(session, watched->binary, (uint32_t)session->program.process);
        request.build_id_size = 0;
    }
    if (!watched->is_blocks)
        request.address += bias;
    else if (!ring_add_ranges(&session->ring, &request, watched->ranges.data, watched->ranges.count,
                              bias))
        return false;
    return ask(session, &request, (struct role){.watched = number}) != REQUESTS_MAX;
}

static bool ask_for_all(struct session *session) {
    for (uint32_t i = 0; i < session->watched.count; i++) {
        const struct watched *watched = &session->watched.data[i];
        size_t places = watched->local ? watched->places.count : 1;
        if (watched->is_thread_local && session->program.is_other)
            continue;
        for (size_t k = 0; k < places && !watched->object.path.objects.count; k++)
            if (!ask_for(session, i, k))
                return false;
    }
    return true;
}

static const char *begin_session(struct session *session) {
    GElf_Ehdr header;
    const char *wrong = ring_make(&session->ring);
    if (wrong)
        return arena_print(&session->arena, "cannot make '%s': %s",
                           session->ring.path ? session->ring.path : "a file in /dev/shm or TMPDIR",
                           wrong);
    session->roles = ARENA_ARRAY(&session->arena, struct role, REQUESTS_MAX);
    session->writers.program = session->binary;
    session->writers.libraries = &session->libraries;
    session->program.entry = gelf_getehdr(session->binary->elf, &header) ? header.e_entry : 0;
    if (!ask_for_all(session))
        return "watch fewer objects at a time, or slices that hold several";
    return NULL;
}

const char *run_session(struct session *session, char **argv) {
    const char *wrong = begin_session(session);
    if (wrong)
        return wrong;
    bool follows = follow_begin(session);
    if (follows && session->started != session->file)
        return "'--program' does not go with what pointers lead to: only the program that is run "
               "is stopped before it begins; name the pointer";
    wrong = start_program(&session->arena, &session->program, session->started, argv,
                          session->ring.path, follows ? follow_place(session) : 0);
    if (wrong)
        return arena_print(&session->arena, "cannot run '%s': %s", session->started, wrong);
    if (follows) {
        follow_start(session);
        release_program(&session->program);
    }
    watch_run(session);
    tell_failures(session);
    ring_remove(&session->ring);
    return NULL;
}

/* Returns an error message for a request that was refused, or NULL. */
static const char *find_refused(struct session *session) {
    for (uint32_t i = 0; i < session->ring.file->request_count; i++) {
        const struct quipu_watch_request *request = &session->ring.requests[i];
        if (request->state == QUIPU_REQUEST_FAILED)
            return arena_print(&session->arena, "'%s' cannot be watched: %s",
                               session->watched.data[session->roles[i].watched].text,
                               strerror((int)request->error));
    }
    return NULL;
}

/* Requests the thread-local object NUMBER of THREAD, which is stopped. */
static void ask_for_thread(struct session *session, uint32_t number, pid_t thread) {
    const struct watched *watched = &session->watched.data[number];
    uint64_t base;
    if (!read_thread_pointer(thread, &base))
        return;
    struct quipu_watch_request request = {.address = base + (uint64_t)watched->offset,
                                          .size = watched->size,
                                          .flags = flags_of(session, watched)};
    ask(session, &request, (struct role){.watched = number});
}

static void ask_for_threads(struct session *session, uint32_t number) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)session->program.process);
    DIR *tasks = opendir(path);
    for (const struct dirent *task; tasks && (task = readdir(tasks));)
        if (*task->d_name != '.')
            ask_for_thread(session, number, (pid_t)strtol(task->d_name, NULL, 10));
    if (tasks)
        closedir(tasks);
}

/* Makes the requests that depend on the state of a process. All its threads are stopped. */
static void prepare(void *context) {
    struct session *session = context;
    if (session->paths)
        follow_start(session);
    for (uint32_t i = 0; i < session->watched.count; i++)
        if (session->watched.data[i].is_thread_local)
            ask_for_threads(session, i);
}

const char *attach_session(struct session *session, pid_t process) {
    const char *wrong = take_program(&session->program, process);
    if (!wrong)
        wrong = begin_session(session);
    if (!wrong)
        wrong = ring_give(&session->ring, process);
    if (wrong)
        return wrong;
    follow_begin(session);
    wrong = attach_file(&session->arena, process, session->ring.path, prepare, session);
    ring_hide(&session->ring); /* it must not remain if quipu is killed */
    if (!wrong)
        wrong = find_refused(session);
    if (wrong) {
        drop_requests(session);
        detach_file(&session->arena, process);
        return wrong;
    }
    for (size_t i = 0; i < session->watched.count; i++)
        if (session->watched.data[i].is_thread_local)
            warn("'%s': threads that begin from now on have one that is not watched",
                 session->watched.data[i].text);
    watch_run(session);
    tell_failures(session);
    ring_remove(&session->ring);
    return NULL;
}

void end_session(struct session *session) {
    for (size_t i = 0; i < session->calls.count; i++)
        close_unwinder(session->calls.data[i].unwinder);
    close_libraries(&session->libraries);
    ring_remove(&session->ring);
    writers_release(&session->writers);
    buffer_release(&session->out);
    arena_release(&session->arena);
}
