/* search.c: finds the first moment of a run at which an expression is true; see search.h.
 *
 * Mellor-Crummey & LeBlanc 1989, section 3.2: the counter divides the run into intervals, and at
 * the end of each the expression is evaluated. If it is true, the interval is repeated from a
 * checkpoint and divided, again and again. The last part is single-stepped.
 *
 * Intervals grow with the time that has passed. Checkpoints are made less often if they take
 * longer. So both cost only a share of the time. One checkpoint is kept, the newest one at which
 * the expression is false.
 *
 * Not perfect: if the expression is true only between two looks, that is not found. There is a look
 * at the end of each interval, behind each system call, at signals and at the exit. While it costs
 * little, debug registers add a look behind each write to the objects. */
#include "moment/search.h"

#include "moment/watch.h"
#include "tracee/countdown.h"
#include "tracee/tests.h"
#include "util/clock.h"

enum {
    FIRST_INTERVAL = 4096,   /* ticks */
    LOG_BYTES_MAX = 1 << 26, /* more bytes cause a checkpoint, and a new log */
    MANY_TICKS = 1 << 16,    /* more are divided into PARTS, fewer are halved */
    PARTS = 256
};

/* In seconds. */
static const double interval_least = 0.004, interval_most = 0.25, checkpoint_least = 0.02;
/* Shares of the time since the begin of the search. */
static const double interval_share = 0.03, checkpoint_share = 0.2, fork_share = 0.02;

/* On machines without debug registers, there is a look at each tick for so many seconds. */
static const double each_tick = 1;

/* Returns why SEARCH cannot see each write. */
static const char *cannot_watch(const struct search *search) {
    return search->run.has_registers
               ? "'--exact' needs the processor's debug registers: the expression must read at most "
                 "four words; leave the option out"
               : "'--exact' needs the processor's debug registers, and this machine's stop no "
                 "program; leave the option out";
}

static enum outcome fail(struct search *search, const char *wrong) {
    search->wrong = wrong;
    return OUTCOME_FAILED;
}

bool look_at(struct search *search, pid_t process) {
    struct process_memory memory = process_memory(process, search->run.bias);
    enum truth truth = evaluate(search->expression, &memory.memory);
    search->looks++;
    search->unknown += truth == TRUTH_UNKNOWN;
    return truth == TRUTH_TRUE;
}

static bool is_true(struct search *search, const struct repeated *process) {
    return look_at(search, process->process);
}

/* ---- checkpoints ---- */

static uint64_t ticks_of(const struct search *search, const struct repeated *process) {
    return read_ticks(&search->run.ticks, process->process, search->run.binary, 0);
}

static bool stop_after(const struct search *search, struct repeated *process, uint64_t distance) {
    return stop_within(&search->run.ticks, &process->countdown, process->process, distance);
}

static const char *make_checkpoint(struct search *search) {
    struct repeated copy;
    double begun = clock_seconds();
    search->run.first.ticks = ticks_of(search, &search->run.first);
    search->run.first.position = 0;
    const char *wrong = make_copy(&search->run, &search->run.first, &copy);
    if (wrong)
        return wrong;
    drop_copy(&search->lo);
    clear_calls(&search->run.log);
    search->lo = copy;
    search->checkpoints++;
    search->made = clock_seconds();
    search->spent = search->made - begun;
    return NULL;
}

static bool is_due(const struct search *search) {
    double now = clock_seconds(), since = now - search->made;
    return search->run.log.bytes > LOG_BYTES_MAX ||
           (since > checkpoint_least && since > checkpoint_share * (now - search->begun) &&
            since > search->spent / fork_share);
}

/* ---- forward ---- */

static bool begin_interval(struct search *search) {
    search->interval_begun = clock_seconds();
    return stop_after(search, &search->run.first, search->interval);
}

/* The length of the next interval depends on the time that has passed. If no debug registers see
 * writes, there is a look at each tick in the beginning. */
static void end_interval(struct search *search) {
    double now = clock_seconds(), took = now - search->interval_begun;
    bool slowly = !search->run.has_registers && now - search->begun < each_tick;
    double wanted = interval_share * (now - search->begun);
    wanted = wanted < interval_least ? interval_least : wanted;
    wanted = wanted > interval_most ? interval_most : wanted;
    double factor = took > 0 ? wanted / took : 8;
    factor = factor > 8 ? 8 : factor < 0.25 ? 0.25 : factor;
    search->interval = slowly ? 1 : 1 + (uint64_t)(factor * (double)search->interval);
    search->intervals++;
    if (search->progress)
        search->progress(search);
}

/* Prepares the run to continue. It is stopped at a look, and the expression is false. Returns NULL
 * or a message. */
static const char *go_beyond(struct search *search, enum stop stop) {
    const char *wrong = NULL;
    bool at_countdown = stop == STOP_COUNTDOWN || stop == STOP_THREAD;
    keep_watching(search, stop);
    if (search->exact && !search->watching)
        return cannot_watch(search);
    if (stop == STOP_COUNTDOWN)
        end_interval(search);
    if (stop == STOP_ONCE || (at_countdown && is_due(search)))
        wrong = make_checkpoint(search);
    if (!wrong && at_countdown && !begin_interval(search))
        wrong = "its memory cannot be written";
    return wrong;
}

/* Continues to the first look at which the expression is true. OUTCOME_FOUND: the run is stopped
 * there. */
static enum outcome go_forward(struct search *search) {
    struct run *run = &search->run;
    for (;;) {
        enum stop stop = go_on(run, &run->first, false);
        if (stop == STOP_ENDED || stop == STOP_PROGRAM)
            return stop == STOP_ENDED
                       ? OUTCOME_NEVER
                       : fail(search, "it has become another program, by exec, before that");
        if (is_true(search, &run->first))
            return OUTCOME_FOUND;
        if (stop == STOP_CLONE)
            return search_threads(search);
        const char *wrong = go_beyond(search, stop);
        if (wrong)
            return fail(search, wrong);
    }
}

/* ---- back and closer ---- */

/* Makes COPY of the checkpoint, which repeats a part of the run. */
static bool begin_part(struct search *search, struct repeated *copy) {
    search->wrong = make_copy(&search->run, &search->lo, copy);
    search->tries += !search->wrong;
    return !search->wrong;
}

/* Runs COPY for up to DISTANCE ticks. Returns whether it has advanced and is still in front of HI.
 */
static bool advance(struct search *search, struct repeated *copy, uint64_t distance, uint64_t hi) {
    uint64_t before = copy->ticks;
    enum stop stop;
    stop_after(search, copy, distance);
    do
        stop = go_on(&search->run, copy, false);
    while (stop == STOP_CALL || stop == STOP_FAULT);
    if (stop != STOP_COUNTDOWN)
        return false;
    copy->ticks = ticks_of(search, copy);
    return copy->ticks > before && copy->ticks < hi;
}

/* Runs COPY to TICKS, or to at most SLACK in front of it. Returns false if it cannot come there. */
static bool run_near(struct search *search, struct repeated *copy, uint64_t ticks, uint64_t slack) {
    while (ticks - copy->ticks > slack)
        if (!advance(search, copy, ticks - copy->ticks, ticks + 1))
            return false;
    return true;
}

/* COPY is in front of `limit`. Makes it the checkpoint if the expression is false there, and drops
 * it otherwise. */
static bool come_to(struct search *search, struct repeated *copy) {
    bool below = copy->ticks > search->lo.ticks && !is_true(search, copy);
    drop_copy(below ? &search->lo : copy);
    if (below)
        search->lo = *copy;
    return below;
}

/* Runs a copy of the checkpoint for up to DISTANCE ticks, and makes it the checkpoint if it is
 * still in front of the limit and the expression is false there. */
static bool try_part(struct search *search, uint64_t distance) {
    struct repeated copy;
    if (!begin_part(search, &copy))
        return false;
    if (advance(search, &copy, distance, search->limit))
        return come_to(search, &copy);
    drop_copy(&copy);
    return false;
}

/* Runs a copy of the checkpoint, with a look after each PART ticks, until the expression is true.
 * That is the new limit. Returns the ticks at the last look at which it is false; those of the
 * checkpoint if there was none. */
static uint64_t look_through(struct search *search, uint64_t part) {
    struct repeated copy;
    uint64_t below = search->lo.ticks;
    if (!begin_part(search, &copy))
        return below;
    while (advance(search, &copy, part, search->limit)) {
        if (is_true(search, &copy)) {
            search->limit = copy.ticks;
            break;
        }
        below = copy.ticks;
    }
    drop_copy(&copy);
    return below;
}

/* Each copy copies the pages that it writes, which takes longer than the part itself if these are
 * many. So a long interval is not halved: one copy finds the part of it, and a second one runs to
 * that part's begin. Returns whether the interval is shorter now. */
static bool find_part(struct search *search) {
    struct repeated copy;
    uint64_t before = search->limit - search->lo.ticks, part = before / PARTS;
    uint64_t below = look_through(search, part);
    if (below > search->lo.ticks && !search->wrong && begin_part(search, &copy)) {
        if (run_near(search, &copy, below, part / 8))
            come_to(search, &copy);
        else
            drop_copy(&copy);
    }
    return search->limit - search->lo.ticks < before;
}

void come_closer(struct search *search, uint64_t ticks) {
    while (search->limit > search->lo.ticks + ticks && !search->wrong) {
        uint64_t half = (search->limit - search->lo.ticks) / 2;
        bool closer = half > MANY_TICKS / 2 && find_part(search);
        if (!closer && !search->wrong && !try_part(search, half))
            search->limit -= half;
        if (search->progress)
            search->progress(search);
    }
}

/* ---- whole searches ---- */

/* Runs the program to the begin of the search. Returns NULL or a message. */
static const char *go_to_begin(struct search *search) {
    switch (go_to_place(&search->run, search->from)) {
    case STOP_PLACE:
        return NULL;
    case STOP_CLONE:
        return "it has made a second thread before it came to where '--from' has the search begin; "
               "have it begin earlier";
    case STOP_PROGRAM:
        return "it has become another program, by exec, before it came to where '--from' has the "
               "search begin";
    default:
        return "the program has ended and never came to where '--from' has the search begin";
    }
}

static enum outcome begin_run(struct search *search, char **argv) {
    const char *wrong = start_run(&search->run, argv);
    if (!wrong && search->from->count)
        wrong = go_to_begin(search);
    if (wrong)
        return fail(search, wrong);
    if (!search->run.ticks.block && go_until(&search->run, STOP_THREAD) != STOP_THREAD)
        return fail(search, "no code that was built with '--quipu=moment' has run");
    wrong = make_checkpoint(search);
    if (wrong)
        return fail(search, wrong);
    if (is_true(search, &search->run.first))
        return OUTCOME_FROM_START;
    begin_watching(search);
    if (!search->run.has_registers)
        search->interval = 1;
    wrong = go_beyond(search, STOP_THREAD);
    return wrong ? fail(search, wrong) : OUTCOME_FOUND;
}

static enum outcome find_moment(struct search *search, char **argv) {
    search->run.arena = search->arena;
    search->interval = FIRST_INTERVAL;
    search->begun = clock_seconds();
    enum outcome outcome = begin_run(search, argv);
    if (outcome == OUTCOME_FROM_START) {
        search->thread = 1;
        find_first_place(search);
        return search->wrong ? OUTCOME_FAILED : outcome;
    }
    if (outcome == OUTCOME_FOUND)
        outcome = go_forward(search);
    if (outcome != OUTCOME_FOUND || search->thread)
        return outcome;
    search->thread = 1;
    search->intervals++;
    search->limit = ticks_of(search, &search->run.first);
    step_to_moment(search);
    return search->wrong ? OUTCOME_FAILED : outcome;
}

enum outcome search_moment(struct search *search, char **argv) {
    enum outcome outcome = find_moment(search, argv);
    restore_our_affinity(&search->run.affinity);
    return outcome;
}

/* Releases the copy. It has the tests and the affinity of its original, which are undone. */
static pid_t leave_copy(struct search *search) {
    take_tests_out(search->lo.process, search->run.binary, search->run.bias);
    restore_affinity(&search->run.affinity, search->lo.process);
    release_copy(&search->run.tracee, search->lo.process);
    return search->lo.process;
}

pid_t leave_search(struct search *search) {
    struct tracee *tracee = &search->run.tracee;
    if (search->standing == search->lo.process)
        return leave_copy(search);
    if (tracee->ended)
        return 0;
    if (!search->in_turns)
        watch_memory(tracee->process, NULL, NULL, 0);
    take_tests_out(tracee_memory(tracee), search->run.binary, search->run.bias);
    if (!search->in_turns)
        restore_affinity(&search->run.affinity, tracee->process);
    leave_tracee(tracee);
    return tracee->process;
}

void end_search(struct search *search) {
    drop_copy(&search->lo);
    kill_tracee(&search->run.tracee);
    arena_release(&search->values);
    clear_calls(&search->run.log);
    arena_release(&search->run.tracee.arena);
}
