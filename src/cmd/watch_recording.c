/* watch_recording.c: quipu watch -e EXPRESSION RECORDING: tells of each write of a recorded run.
 *
 * The run is repeated from write to write (debug/lookout.h). Each becomes a hit, as a program that
 * tells of its writes would have made it, and is told as that.
 *
 * Not perfect: variables of shared objects, locals, thread-local variables and heap blocks are not
 * watched. */
#include "cmd/recorded_run.h"
#include "cmd/watch.h"

#include "debug/lookout.h"
#include "symbols/backtrace.h"
#include "util/diag.h"
#include "util/process.h"
#include "x86/decode.h"

#include <stdlib.h>
#include <string.h>

/* An object that is watched, and the way to it. */
struct recorded_object {
    uint64_t address; /* in the process; 0: it does not exist at present */
    bool is_found;    /* the pointers to it are not followed any more */
};

struct recorded_watch {
    struct timeline *timeline;
    struct lookout lookout;
    struct session session;
    struct recorded_object *objects;   /* by number of what is watched */
    struct role roles[LOOKOUT_RANGES]; /* by number of the range */
    uint64_t bias;                     /* of the program */
    struct unwinder *unwinder;         /* NULL: none yet */
    uint64_t unwound;                  /* events, when it was made */
    struct buffer record;
};

/* ---- what is watched ---- */

static const char refusal[] =
    "in a recording, variables with one address in the program are watched, what pointers lead to, "
    "and ADDRESS:LENGTH";

static bool can_be_watched(const struct recorded_watch *watch, const struct watched *watched) {
    bool is_own = !watched->binary || watched->binary == watch->session.binary;
    return is_own && !watched->is_blocks && !watched->local && !watched->is_thread_local;
}

static void read_named(struct recorded_watch *watch, const struct watch_options *options,
                       const struct named *named) {
    struct session *session = &watch->session;
    struct watched watched;
    size_t where = 0;
    const char *wrong = read_watched(&session->libraries, named->text, &watched, &where);
    if (!wrong && !can_be_watched(watch, &watched))
        die("'%s': %s", named->text, refusal);
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
    vector_push(&session->arena, &session->watched, watched);
}

/* Returns the present address of object NUMBER, or 0. */
static uint64_t find_object(struct recorded_watch *watch, size_t number) {
    const struct watched *watched = &watch->session.watched.data[number];
    struct recorded_object *object = &watch->objects[number];
    struct process_memory memory = process_memory(timeline_process(watch->timeline), watch->bias);
    uint64_t address = 0;
    if (object->is_found)
        return object->address;
    if (!watched->object.path.objects.count)
        return watched->address + (watched->binary ? watch->bias : 0);
    if (!object_address(watched->object.node, &memory.memory, &address) || address < NULL_PAGE)
        return 0;
    object->is_found = !watch->session.options.follow && !watched->object.is_described;
    return object->address = address;
}

/* The ranges of memory that are to be watched. */
struct present {
    struct lookout_range ranges[LOOKOUT_RANGES];
    size_t count;
};

static void add_range(struct recorded_watch *watch, struct present *present, struct role role,
                      uint64_t address, uint64_t size) {
    if (present->count >= LOOKOUT_RANGES)
        die("at most %d objects and pointers can be watched in a recording", LOOKOUT_RANGES);
    size_t number = present->count++;
    watch->roles[number] = role;
    present->ranges[number] = (struct lookout_range){.address = address, .size = size};
}

/* Adds the pointers that lead to object NUMBER. */
static void add_pointers(struct recorded_watch *watch, uint32_t number, struct present *present) {
    const struct watched *watched = &watch->session.watched.data[number];
    struct process_memory memory = process_memory(timeline_process(watch->timeline), watch->bias);
    for (size_t i = 0; i < watched->object.path.objects.count; i++) {
        const struct node *node = watched->object.path.objects.data[i];
        uint64_t address;
        if (object_address(node, &memory.memory, &address) && address >= NULL_PAGE)
            add_range(watch, present, (struct role){number, true}, address, node->type.size);
    }
}

/* Watches everything where it is now. */
static void watch_present(struct recorded_watch *watch) {
    struct present present = {.count = 0};
    const char *wrong = NULL;
    for (uint32_t i = 0; i < watch->session.watched.count; i++) {
        uint64_t address = find_object(watch, i), size = watch->session.watched.data[i].size;
        if (!watch->objects[i].is_found)
            add_pointers(watch, i, &present);
        if (address)
            add_range(watch, &present, (struct role){i, false}, address, size);
    }
    if (!lookout_watches(&watch->lookout, present.ranges, present.count))
        wrong = lookout_watch(&watch->lookout, present.ranges, present.count);
    if (wrong)
        die("%s", wrong);
}

/* ---- hits ---- */

/* Returns where the innermost call of the program's own code returns to, as linked, or 0. What is
 * known of the process's code may be older than a library that it has loaded. */
static uint64_t find_return(struct recorded_watch *watch, pid_t thread) {
    struct caller_list callers = {.count = 0};
    const struct binary *binary = watch->session.binary;
    uint64_t events = watch->timeline->here.events;
    for (int i = 0; i < 2 && callers.count < 2; i++) {
        if (!watch->unwinder || (i && watch->unwound != events)) {
            close_unwinder(watch->unwinder);
            watch->unwinder = open_unwinder(timeline_process(watch->timeline));
            watch->unwound = events;
        }
        if (watch->unwinder)
            read_callers_by(watch->unwinder, thread, &callers);
    }
    for (size_t i = 1; i < callers.count; i++)
        if (binary_segment(binary, callers.addresses[i] - watch->bias))
            return callers.addresses[i] - watch->bias + 1;
    return 0;
}

/* Returns the writer of the last write, and sets MOMENT, in SCRATCH. */
static struct writer *find_writer(struct recorded_watch *watch, struct arena *scratch,
                                  uint32_t watched, bool *is_call, const char **moment) {
    const struct lookout *lookout = &watch->lookout;
    struct binary *binary = watch->session.binary;
    struct thread_ticks ticks;
    struct decoded decoded;
    size_t room;
    uint64_t linked = lookout->instruction - watch->bias;
    const uint8_t *code = lookout->instruction ? binary_code(binary, linked, &room) : NULL;
    uint64_t pc = 0;
    *is_call = !code;
    if (!code)
        pc = find_return(watch, own_number(watch->timeline, lookout->thread));
    else if (decode_instruction(code, room, &decoded))
        pc = linked + decoded.size;
    if (read_thread_ticks(watch->timeline, lookout->thread, lookout->instruction, &ticks))
        *moment = moment_name(watch->timeline, scratch, lookout->thread, &ticks, *is_call ? pc : 0);
    else
        *moment = arena_print(scratch, "behind event %llu",
                              (unsigned long long)watch->timeline->here.events - lookout->is_call);
    return writers_find_in_program(&watch->session.writers, linked, pc, *is_call, watched);
}

/* Makes the record of the write to RANGE, of object WATCHED. */
static struct quipu_hit *make_hit(struct recorded_watch *watch, const struct lookout_range *range,
                                  uint32_t watched) {
    static const uint8_t zeros[8];
    size_t padding = (8 - range->size % 8) % 8;
    const struct quipu_hit hit = {
        .record = {.size = (uint32_t)(sizeof hit + 2 * (range->size + padding)),
                   .pid = (uint32_t)player_number(watch->timeline->player),
                   .thread = (uint32_t)watch->lookout.thread},
        .request = watched,
        .address = range->address + range->begin,
        .length = range->end - range->begin,
        .region = range->address,
        .told = range->size,
    };
    struct buffer *record = &watch->record;
    record->count = 0;
    buffer_add(record, (const char *)&hit, sizeof hit);
    buffer_add(record, (const char *)range->old, range->size);
    buffer_add(record, (const char *)zeros, padding);
    buffer_add(record, (const char *)range->now, range->size);
    buffer_add(record, (const char *)zeros, padding);
    return (struct quipu_hit *)record->data;
}

static void flush(struct session *session) {
    if (session->out.count && !write_whole(session->fd, session->out.data, session->out.count))
        session->is_lost = true;
    session->out.count = 0;
}

static void print_it(struct recorded_watch *watch, struct hit_report *report) {
    struct session *session = &watch->session;
    struct buffer calls = {0};
    if (session->options.quiet)
        return;
    if (session->options.backtrace || report->is_violation) {
        if (!watch->unwinder)
            watch->unwinder = open_unwinder(timeline_process(watch->timeline));
        if (watch->unwinder)
            add_backtrace(watch->unwinder, &calls, "        ",
                          own_number(watch->timeline, watch->lookout.thread), report->hit->pc - 1);
        report->backtrace = calls.count ? calls.data : NULL;
    }
    print_hit(&session->arena, &session->format, report, &session->out);
    flush(session);
    buffer_release(&calls);
}

static void take_hit(struct recorded_watch *watch, size_t number) {
    struct session *session = &watch->session;
    uint32_t object = watch->roles[number].watched;
    const struct watched *watched = &session->watched.data[object];
    struct quipu_hit *hit = make_hit(watch, &watch->lookout.ranges[number], object);
    struct arena scratch = {0};
    struct hit_report report;
    bool is_call;
    const char *moment;
    if (!read_hit(hit, watched, &report) ||
        !is_wanted(watched, &report.old, &report.now, report.begin, report.end, false,
                   timeline_process(watch->timeline), watch->bias))
        return;
    report.writer = find_writer(watch, &scratch, object, &is_call, &moment);
    report.moment = moment;
    hit->cause = is_call ? QUIPU_CAUSE_CALLEE : QUIPU_CAUSE_STORE;
    hit->pc = report.writer->pc + watch->bias;
    if (!watched->is_guarded || !report.writer->is_allowed) {
        report.is_violation = watched->is_violation;
        report.number = ++session->hits;
        session->violations += report.is_violation;
        report.writer->hits++;
        report.writer->changes += memcmp(report.old.bytes, report.now.bytes, report.old.count) != 0;
        print_it(watch, &report);
    }
    arena_release(&scratch);
}

/* ---- the run ---- */

static bool is_at_limit(const struct session *session) {
    return session->options.limit && session->hits >= session->options.limit;
}

static void follow_run(struct recorded_watch *watch) {
    const struct lookout *lookout = &watch->lookout;
    struct timeline *timeline = watch->timeline;
    watch_present(watch);
    if (points_need_steps(&timeline->points))
        warn("debug registers do not suffice: each instruction is looked at, and only changes are "
             "told");
    while (lookout_next(&watch->lookout) == HALT_WATCH) {
        for (size_t i = 0; i < lookout->count && !is_at_limit(&watch->session); i++)
            if (lookout->ranges[i].begin < lookout->ranges[i].end && !watch->roles[i].is_internal)
                take_hit(watch, i);
        if (is_at_limit(&watch->session))
            return;
        watch_present(watch);
    }
}

static int status_of(const struct recorded_watch *watch) {
    const struct session *session = &watch->session;
    if (session->violations)
        report_violations(session);
    if (session->violations || session->is_lost)
        return 1;
    return watch->timeline->here.ended ? recorded_status(watch->timeline) : 0;
}

static void check_options(const struct watch_options *options) {
    if (options->stop || options->command || options->fatal || options->program)
        die("--stop, --exec, --fatal and --program are not for recordings; 'quipu replay "
            "--at=MOMENT' leads gdb to a write");
}

int watch_recording(const struct watch_options *options, const char *path) {
    static struct recorded_watch watch;
    struct session *session = &watch.session;
    const struct table_format *table =
        options->summary ? choose_table_format(options->format ? options->format : "text") : NULL;
    check_options(options);
    session->options = (struct session_options){.backtrace = options->backtrace,
                                                .follow = options->follow,
                                                .quiet = options->summary,
                                                .limit = options->limit};
    set_format(session, options);
    if (session->format.markup)
        die("--format=html is not for recordings; choose text or json");
    watch.timeline = begin_with_debug_information(&session->arena, path, options->process);
    const struct played_program *program = program_of(watch.timeline);
    watch.bias = program->bias;
    session->binary = session->writers.program = program->binary;
    session->file = program->binary->path;
    begin_libraries(&session->arena, session->file, session->binary,
                    timeline_process(watch.timeline), &session->libraries);
    session->writers.libraries = &session->libraries;
    for (size_t i = 0; i < options->named.count; i++)
        read_named(&watch, options, &options->named.data[i]);
    for (size_t i = 0; i < options->allowed.count; i++)
        vector_push(&session->writers.arena, &session->writers.allowed,
                    ((struct allowed_name){options->allowed.data[i], false}));
    watch.objects = ARENA_ARRAY(&session->arena, struct recorded_object, session->watched.count);
    session->fd = open_log(options->log);
    session->log = options->log ? options->log : "standard error";
    lookout_begin(&watch.lookout, watch.timeline);
    follow_run(&watch);
    lookout_end(&watch.lookout);
    if (table)
        summarize(session, table);
    int status = status_of(&watch);
    close_unwinder(watch.unwinder);
    buffer_release(&watch.record);
    close_libraries(&session->libraries);
    end_recorded_run(watch.timeline);
    return status;
}
