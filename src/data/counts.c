/* counts.c: from the cells of data files to counts; see profile.h.
 *
 * Each processor adds up the cells of one file after the other, by module. Then the flow equations,
 * which are linear, are solved once. The instructions of one process or thread are not a linear
 * part of that: in each part, a negative count becomes zero. So the equations are also solved for
 * each part, for the functions that have counted anything. */
#include "data/datafile.h"
#include "data/flow.h"
#include "data/profile.h"
#include "data/solve.h"
#include "data/tasks.h"
#include "format/event.h"
#include "format/notes.h"
#include "util/diag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells of a process ---- */

static const char *add_thread(struct data_reader *reader, const struct thread_cells *thread,
                              uint64_t *sums, bool shared) {
    if (thread->held)
        add_cells(thread->held, thread->module->cell_count, sums, shared);
    if (thread->held || !thread->offset)
        return NULL;
    return data_reader_add(reader, thread->offset, thread->module->cell_count, sums, shared);
}

/* ---- one instant for several results ---- */

static const char *hold_process(struct profile *profile, struct process *process) {
    struct data_reader reader;
    const char *cause = data_reader_open(&reader, process->data);
    for (size_t i = 0; !cause && i < process->threads.count; i++) {
        struct thread_cells *thread = &process->threads.data[i];
        uint64_t *copy = ARENA_ARRAY(&profile->arena, uint64_t, thread->module->cell_count);
        cause = add_thread(&reader, thread, copy, false);
        thread->held = copy;
    }
    data_reader_close(&reader);
    return cause;
}

void profile_hold(struct profile *profile) {
    for (size_t i = 0; i < profile->processes.count; i++) {
        struct process *process = &profile->processes.data[i];
        const char *cause =
            data_file_is_running(process->data) ? hold_process(profile, process) : NULL;
        if (cause)
            die("'%s': %s", process->file, cause);
    }
}

/* ---- events ---- */

static struct thread_events count_events(const uint64_t *words) {
    struct thread_events events = {.begin = words[QUIPU_EVENT_BEGIN / sizeof *words],
                                   .number = words[QUIPU_EVENT_THREAD / sizeof *words]};
    for (uint32_t kind = 0; kind < QUIPU_EVENTS; kind++) {
        uint64_t count = kind == QUIPU_EVENT_TICKS ? words[QUIPU_EVENT_BASE / sizeof *words] : 0;
        for (uint32_t lane = 0; lane < quipu_lanes(kind); lane++)
            count += words[quipu_first_cell(kind) + lane];
        events.counts[kind] = count;
    }
    return events;
}

struct event_reader {
    struct profile *profile;
    struct thread_events **events; /* for each process, by thread */
};

static const char *read_events(void *context, size_t worker, size_t number) {
    (void)worker;
    const struct event_reader *all = context;
    struct process *process = &all->profile->processes.data[number];
    struct data_reader reader;
    const char *cause = data_reader_open(&reader, process->data);
    for (size_t i = 0; !cause && i < process->threads.count; i++) {
        struct thread_cells *thread = &process->threads.data[i];
        if (thread->events || !thread->module->event_kinds || !thread->offset)
            continue;
        const uint64_t *words =
            data_reader_bytes(&reader, thread->offset + thread->module->first_event * sizeof *words,
                              QUIPU_EVENT_THREAD + sizeof *words, &cause);
        if (!words)
            break;
        all->events[number][i] = count_events(words);
        thread->events = &all->events[number][i];
    }
    data_reader_close(&reader);
    return cause;
}

void profile_read_events(struct profile *profile) {
    size_t count = profile->processes.count, failed;
    struct event_reader all = {
        .profile = profile,
        .events = ARENA_ARRAY(&profile->arena, struct thread_events *, count),
    };
    bool wanted = false;
    for (size_t i = 0; i < profile->modules.count; i++)
        wanted |= profile->modules.data[i]->event_kinds != 0;
    for (size_t i = 0; wanted && i < count; i++)
        all.events[i] = ARENA_ARRAY(&profile->arena, struct thread_events,
                                    profile->processes.data[i].threads.count);
    const char *cause = do_tasks(
        &(struct tasks){
            .what = "events", .count = wanted ? count : 0, .run = read_events, .context = &all},
        &failed);
    if (cause)
        die("'%s': %s", profile->processes.data[failed].file, cause);
}

/* ---- all counts ---- */

struct adder {
    const struct profile *profile;
    struct selection selection;
    uint64_t **sums; /* by module */
    bool shared;     /* there are several workers */
};

static const char *add_process(void *context, size_t worker, size_t number) {
    (void)worker;
    const struct adder *adder = context;
    const struct process *process = &adder->profile->processes.data[number];
    struct selection selection = adder->selection;
    if (selection.process && selection.process != process)
        return NULL;
    struct data_reader reader;
    const char *cause = data_reader_open(&reader, process->data);
    for (size_t i = 0; !cause && i < process->threads.count; i++) {
        const struct thread_cells *thread = &process->threads.data[i];
        if (!selection.owner || selection.owner == thread->owner)
            cause = add_thread(&reader, thread, adder->sums[thread->module->number], adder->shared);
    }
    data_reader_close(&reader);
    return cause;
}

/* Adds up all modules' cells over the selected slots. The result is in ARENA. */
static uint64_t **sum_cells(struct arena *arena, const struct profile *profile,
                            struct selection selection) {
    size_t count = profile->processes.count, failed;
    struct adder adder = {.profile = profile,
                          .selection = selection,
                          .sums = ARENA_ARRAY(arena, uint64_t *, profile->modules.count),
                          .shared = count_workers(count) > 1};
    for (size_t i = 0; i < profile->modules.count; i++)
        adder.sums[i] = ARENA_ARRAY(arena, uint64_t, profile->modules.data[i]->cell_count);
    const char *cause = do_tasks(
        &(struct tasks){.what = "counts", .count = count, .run = add_process, .context = &adder},
        &failed);
    if (cause)
        die("'%s': %s", profile->processes.data[failed].file, cause);
    return adder.sums;
}

static void count_instructions(struct function *function) {
    function->executed = 0;
    function->never_executed = 0;
    for (size_t i = 0; i < function->block_count; i++) {
        const struct block *block = &function->blocks[i];
        uint32_t running = block->instruction_count - block->jumped_over;
        for (uint32_t j = 0; j < block->instruction_count; j++) {
            uint64_t count = j < running ? (uint64_t)block->count : 0;
            function->instructions[block->first_instruction + j].count = count;
            function->executed += count;
            function->never_executed += count == 0;
        }
    }
}

static void count_calls(struct function *function) {
    function->calls = 0;
    for (size_t i = 0; i < function->edge_count; i++)
        if (function->edges[i].kind == QUIPU_EDGE_ENTRY)
            function->calls += (uint64_t)function->edges[i].count;
}

/* Whether the notes of a function do not fit its code, so that it is not known which counters are
 * its own. Functions that were left alone have no address. */
static bool has_unfit(const struct module *module) {
    for (size_t i = 0; i < module->left_alone.count; i++)
        if (module->left_alone.data[i].address)
            return true;
    return false;
}

/* Warns once if counters of MODULE have counted, but belong to no function. 'ld -r' joins the notes
 * of several sections of code, which are then linked to the first of them; with --gc-sections, the
 * last link may drop them all. */
static void warn_of_lost(struct arena *arena, struct module *module, const uint64_t *cells) {
    uint64_t lost = 0;
    if (module->lost_told || !module_has_counts(module) || has_unfit(module))
        return;
    bool *known = ARENA_ARRAY(arena, bool, module->cell_count);
    for (size_t i = 0; i < module->functions.count; i++)
        for (uint64_t n = 0; n < module->functions.data[i].flow->cell_count; n++)
            known[module->functions.data[i].first_cell + n] = true;
    for (uint64_t n = 0; n < module->cell_count; n++) {
        bool is_event = module->event_kinds && n >= module->first_event &&
                        n - module->first_event < QUIPU_EVENT_BLOCK / sizeof(uint64_t);
        lost += cells[n] && !known[n] && !is_event;
    }
    if (lost)
        warn("'%s': the counts of %" PRIu64 " counters are left out: the linker has dropped the "
             "notes about their code; objects that 'ld -r' has joined must be linked without "
             "--gc-sections",
             module->path, lost);
    module->lost_told = lost > 0;
}

void profile_count(struct profile *profile, struct selection selection) {
    struct solver solver = {0};
    struct arena scratch = {0};
    uint64_t **sums = sum_cells(&scratch, profile, selection);
    profile->executed = 0;
    for (size_t i = 0; i < profile->modules.count; i++) {
        struct module *module = profile->modules.data[i];
        module->executed = 0;
        warn_of_lost(&scratch, module, sums[i]);
        for (size_t j = 0; j < module->functions.count; j++) {
            struct function *function = &module->functions.data[j];
            CHECK(solve_flow(&solver, function, sums[i] + function->first_cell));
            count_instructions(function);
            count_calls(function);
            module->executed += function->executed;
        }
        profile->executed += module->executed;
    }
    arena_release(&scratch);
    solver_release(&solver);
}

/* ---- the counts of parts ---- */

/* Memory of one worker. */
struct part_worker {
    struct solver solver;
    uint64_t *cells; /* of a module; owned */
};

struct part_counter {
    struct part *parts;
    bool (*shows)(const void *context, const struct function *function);
    const void *context;
    struct part_worker *workers;
};

static bool any_cell(const struct function *function, const uint64_t *cells) {
    for (uint32_t i = 0; i < function->flow->cell_count; i++)
        if (cells[function->first_cell + i])
            return true;
    return false;
}

static uint64_t count_module(const struct part_counter *counter, struct part_worker *worker,
                             const struct module *module) {
    uint64_t executed = 0;
    for (size_t i = 0; i < module->functions.count; i++) {
        const struct function *function = &module->functions.data[i];
        if (any_cell(function, worker->cells) &&
            (!counter->shows || counter->shows(counter->context, function)))
            executed +=
                solve_executed(&worker->solver, function, worker->cells + function->first_cell);
    }
    return executed;
}

/* Adds up the cells that the part's threads have in module NUMBER of the process. */
static const char *sum_module(struct data_reader *reader, const struct part *part, size_t number,
                              uint64_t *cells) {
    const struct process *process = part->selection.process;
    const char *cause = NULL;
    memset(cells, 0, process->modules.data[number]->cell_count * sizeof *cells);
    for (size_t i = 0; !cause && i < process->threads.count; i++) {
        const struct thread_cells *thread = &process->threads.data[i];
        if (thread->module_number == number &&
            (!part->selection.owner || part->selection.owner == thread->owner))
            cause = add_thread(reader, thread, cells, false);
    }
    return cause;
}

static const char *count_part(void *context, size_t number, size_t part_number) {
    const struct part_counter *counter = context;
    struct part_worker *worker = &counter->workers[number];
    struct part *part = &counter->parts[part_number];
    const struct process *process = part->selection.process;
    struct data_reader reader;
    const char *cause = data_reader_open(&reader, process->data);
    part->executed = 0;
    for (size_t i = 0; !cause && i < process->modules.count; i++) {
        cause = sum_module(&reader, part, i, worker->cells);
        uint64_t executed = cause ? 0 : count_module(counter, worker, process->modules.data[i]);
        if (part->modules)
            part->modules[i] = executed;
        part->executed += executed;
    }
    data_reader_close(&reader);
    return cause;
}

void count_parts(const struct profile *profile, struct part *parts, size_t count,
                 bool (*shows)(const void *context, const struct function *function),
                 const void *context) {
    size_t workers = count_workers(count), most = 0, failed;
    struct part_counter counter = {.parts = parts, .shows = shows, .context = context};
    struct arena scratch = {0};
    for (size_t i = 0; i < profile->modules.count; i++)
        if (profile->modules.data[i]->cell_count > most)
            most = profile->modules.data[i]->cell_count;
    counter.workers = ARENA_ARRAY(&scratch, struct part_worker, workers);
    for (size_t i = 0; i < workers; i++)
        counter.workers[i].cells = ARENA_ARRAY(&scratch, uint64_t, most);
    const char *cause = do_tasks(
        &(struct tasks){
            .what = "processes", .count = count, .run = count_part, .context = &counter},
        &failed);
    if (cause)
        die("'%s': %s", parts[failed].selection.process->file, cause);
    for (size_t i = 0; i < workers; i++)
        solver_release(&counter.workers[i].solver);
    arena_release(&scratch);
}
