/* when_recording.c: quipu when EXPRESSION RECORDING.
 *
 * The recorded run goes on from one write of what the expression reads to the next, so each write
 * is seen (debug/lookout.h). Between two of them the expression has one value. */
#include "cmd/recorded_run.h"
#include "cmd/when.h"

#include "debug/lookout.h"
#include "debug/server.h"
#include "moment/changes.h"
#include "symbols/backtrace.h"
#include "util/diag.h"
#include "x86/kernel.h"

#include <string.h>

struct recorded_search {
    struct timeline *timeline;
    struct lookout lookout;
    struct search search;
};

static pid_t process_of(const struct recorded_search *recorded) {
    return timeline_process(recorded->timeline);
}

static bool is_true(struct recorded_search *recorded) {
    struct process_memory memory = process_memory(process_of(recorded), recorded->search.run.bias);
    enum truth truth = evaluate(recorded->search.expression, &memory.memory);
    recorded->search.looks++;
    recorded->search.unknown += truth == TRUTH_UNKNOWN;
    return truth == TRUTH_TRUE;
}

/* Returns an address in the innermost call of the program's own code, as linked, or 0. */
static uint64_t find_caller(struct recorded_search *recorded, pid_t thread) {
    const struct run *run = &recorded->search.run;
    struct caller_list callers;
    read_callers(thread, &callers);
    for (size_t i = 1; i < callers.count; i++)
        if (binary_segment(run->binary, callers.addresses[i] - run->bias))
            return callers.addresses[i] - run->bias;
    return 0;
}

/* The moment is that of THREAD in front of the instruction at ADDRESS of the process. */
static void note_moment(struct recorded_search *recorded, pid_t thread, uint64_t address) {
    struct search *search = &recorded->search;
    struct thread_ticks ticks;
    pid_t number = own_number(recorded->timeline, thread);
    uint64_t linked = address - search->run.bias;
    bool is_inside = binary_segment(search->run.binary, linked);
    search->address = address;
    search->place = is_inside ? linked : 0;
    search->caller = is_inside ? 0 : find_caller(recorded, number);
    if (read_thread_ticks(recorded->timeline, thread, address, &ticks)) {
        search->ticks = ticks.exact;
        search->thread = ticks.number;
    }
    search->moment = describe_moment(recorded->timeline, search->arena, thread, address).text;
    search->instruction = address ? read_instruction(search, process_of(recorded)) : "";
}

/* The timeline is behind the write that makes the expression true. Where its instruction is not
 * known, the run goes back by one. */
static void find_moment(struct recorded_search *recorded) {
    const struct lookout *lookout = &recorded->lookout;
    pid_t thread = lookout->thread;
    note_after(&recorded->search, process_of(recorded));
    if (lookout->instruction || step_backwards(recorded->timeline).kind != HALT_STEP)
        note_moment(recorded, thread, lookout->instruction);
    else
        note_moment(recorded, thread, next_instruction(own_number(recorded->timeline, thread)));
}

static void note_begin(struct recorded_search *recorded) {
    struct search *search = &recorded->search;
    address_list begin = {0};
    const struct symbol *main = binary_find_name(search->run.binary, "main");
    if (main)
        vector_push(search->arena, &begin, main->address);
    if (!search->from->count && main)
        go_to_first_pass(recorded->timeline, &begin);
    note_before(search, process_of(recorded));
    pid_t thread = player_thread(recorded->timeline->player);
    note_moment(recorded, thread, next_instruction(process_of(recorded)));
    search->events = recorded->timeline->here.events;
}

/* The expression is false. */
static void look_again(struct recorded_search *recorded) {
    recorded->search.wrong =
        lookout_watch_expression(&recorded->lookout, recorded->search.expression);
    note_before(&recorded->search, process_of(recorded));
}

static enum outcome search_recording(struct recorded_search *recorded) {
    struct search *search = &recorded->search;
    struct timeline *timeline = recorded->timeline;
    if (search->from->count && !go_to_first_pass(timeline, search->from)) {
        search->wrong = "the place of --from is not reached";
        return OUTCOME_FAILED;
    }
    if (is_true(recorded)) {
        note_begin(recorded);
        return OUTCOME_FROM_START;
    }
    look_again(recorded);
    while (!search->wrong && lookout_next(&recorded->lookout) == HALT_WATCH) {
        search->writes++;
        search->events = timeline->here.events;
        if (is_true(recorded)) {
            find_moment(recorded);
            return OUTCOME_FOUND;
        } else {
            look_again(recorded);
        }
    }
    const struct playing *playing = player_playing(timeline->player);
    search->run.status = playing->status;
    if (!search->wrong && playing->end != PLAYED_END)
        search->wrong =
            arena_print(search->arena, "it was true at none of %llu looks, and then: %s",
                        (unsigned long long)search->looks, describe_end(search->arena, timeline));
    return search->wrong ? OUTCOME_FAILED : OUTCOME_NEVER;
}

int when_in_recording(const char *text, const char *path, const char *process, const char *from,
                      int (*tell)(struct search *search, enum outcome outcome, const void *context),
                      const void *context) {
    struct arena arena = {0};
    const struct variables *variables;
    struct expression expression;
    address_list places = {0};
    size_t where = 0;
    static struct recorded_search recorded;
    recorded.timeline = begin_with_debug_information(&arena, path, process);
    const struct played_program *program = program_of(recorded.timeline);
    const char *wrong = program_variables(recorded.timeline, &variables);
    if (wrong)
        die("'%s': the program: %s", path, wrong);
    wrong = parse_expression(&arena, variables, text, &expression, &where);
    if (wrong)
        die_at(text, where, wrong);
    find_begin(&arena, program->binary, from, &places);
    recorded.search = (struct search){.arena = &arena,
                                      .expression = &expression,
                                      .run = {.binary = program->binary, .bias = program->bias},
                                      .from = &places,
                                      .watching = true};
    lookout_begin(&recorded.lookout, recorded.timeline);
    recorded.lookout.keeps = true;
    enum outcome outcome = search_recording(&recorded);
    int status = tell(&recorded.search, outcome, context);
    lookout_end(&recorded.lookout);
    end_recorded_run(recorded.timeline);
    arena_release(&recorded.search.values);
    arena_release(&arena);
    return status;
}
