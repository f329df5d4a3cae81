/* steps.c: the last interval, instruction by instruction; see search.h.
 *
 * It is stepped twice: once to count the steps up to where the expression is true, and again to one
 * step less, so that what was in front of that instruction is known.
 *
 * The instruction may be in code that does not tick, a library's.  The moment is then the last
 * instruction of instrumented code, which has called it. */
#include "moment/search.h"

#include "data/queries.h"
#include "moment/changes.h"
#include "moment/checkpoint.h"
#include "moment/countdown.h"
#include "x86/kernel.h"
#include "x86/trap.h"

#include <string.h>

enum {
    SLACK_TICKS = 4096,    /* behind the limit: the run went another way */
    STEPPED_TICKS = 48,    /* an interval that is not divided, as long as it has few steps */
    STEPS_MANY = 10000,    /* as long as some dozen parts that are run again */
    TICKS_LOOKED_AT = 1024 /* steps */
};

static const char went_elsewhere[] =
    "a part of the run was repeated and went another way: the program asks the processor for the "
    "time or for random numbers, or shares memory with other processes";

/* A stretch of addresses, as linked, that is instrumented or is not. */
struct stretch {
    uint64_t start, size;
    bool instrumented;
};

/* Of the function that ADDRESS is in; of that address alone where none is known. */
static struct stretch find_stretch(const struct binary *binary, uint64_t address) {
    const struct symbol *symbol = binary_function(binary, address);
    bool instrumented = has_events_at(binary, address);
    return symbol && symbol->size ? (struct stretch){symbol->address, symbol->size, instrumented}
                                  : (struct stretch){address, 1, instrumented};
}

static bool is_instrumented(const struct binary *binary, uint64_t address, struct stretch *last) {
    if (!binary_segment(binary, address))
        return false;
    if (address - last->start >= last->size)
        *last = find_stretch(binary, address);
    return last->instrumented;
}

/* Where the process stands, if that is in instrumented code. */
static bool note_place(struct search *search, struct stretch *last) {
    const struct run *run = &search->run;
    uint64_t address = next_instruction(search->lo.process) - run->bias;
    if (!is_instrumented(run->binary, address, last))
        return false;
    search->place = address;
    search->ticks = read_ticks(run, &search->lo, 0); /* of the cells alone */
    return true;
}

static void add_above(struct search *search) {
    int64_t sums[QUIPU_EVENTS] = {0};
    if (!search->place)
        return;
    add_events_above(search->run.binary, search->place, 0, sums);
    search->ticks += (uint64_t)sums[QUIPU_EVENT_TICKS];
}

/* ---- steps ---- */

static bool is_at_call(const struct repeated *process) {
    uint8_t code[2] = {0};
    return read_memory(process->process, next_instruction(process->process), code, sizeof code) &&
           is_system_call(code);
}

/* Whether the run has gone as far as it did the first time: the call that comes next was its last,
 * and is what has made the expression true. */
static bool is_last_call(const struct search *search, const struct repeated *process,
                         enum stop stop) {
    return stop == STOP_CAUGHT_UP && process->in_call &&
           process->position == search->run.log.calls.count;
}

/* Steps a copy until the expression is true.  Returns the number of steps, MOST + 1 where it takes
 * more than MOST; 0: it never was. */
static uint64_t count_steps(struct search *search, struct repeated *copy, uint64_t most) {
    for (uint64_t steps = 1; steps <= most; steps++) {
        enum stop stop = go_on(&search->run, copy, true);
        search->steps++;
        if (is_last_call(search, copy, stop))
            return steps;
        if (stop == STOP_CAUGHT_UP || stop == STOP_ENDED)
            return 0;
        if (evaluate(search->expression, copy->process, search->run.bias) == TRUTH_TRUE)
            return steps;
        if (steps % TICKS_LOOKED_AT == 0 &&
            read_ticks(&search->run, copy, 0) > search->limit + SLACK_TICKS)
            return 0;
        if (search->progress && steps % TICKS_LOOKED_AT == 0)
            search->progress(search);
    }
    return most + 1;
}

/* Between two ticks there may be much that does not tick, such as output by a library: then fewer
 * are stepped.  Returns the number of steps from `lo` on; 0: it never was true. */
static uint64_t find_steps(struct search *search) {
    for (uint64_t ticks = STEPPED_TICKS;; ticks = (ticks + 7) / 8) {
        uint64_t most = ticks > 1 ? STEPS_MANY : UINT64_MAX - 1;
        struct repeated copy;
        come_closer(search, ticks);
        if (!search->wrong && !stop_within(&search->run, &search->lo, 0))
            search->wrong = "its memory cannot be written";
        if (!search->wrong)
            search->wrong = make_copy(&search->run, &search->lo, &copy);
        if (search->wrong)
            return 0;
        uint64_t steps = count_steps(search, &copy, most);
        drop_copy(&copy);
        if (steps <= most)
            return steps;
    }
}

void step_to_moment(struct search *search) {
    struct stretch last = {0};
    uint64_t steps = find_steps(search);
    if (search->wrong)
        return;
    for (uint64_t i = 1; i < steps; i++) {
        note_place(search, &last);
        go_on(&search->run, &search->lo, true);
    }
    note_place(search, &last);
    add_above(search);
    search->address = next_instruction(search->lo.process);
    search->instruction = read_instruction(search, search->lo.process);
    note_before(search, search->lo.process);
    bool at_call = is_at_call(&search->lo);
    enum stop stop = steps ? go_on(&search->run, &search->lo, true) : STOP_CAUGHT_UP;
    if (at_call && is_last_call(search, &search->lo, stop)) {
        drop_copy(&search->lo); /* only the run itself is behind the call */
        search->standing = search->run.tracee.process;
        note_after(search, search->standing);
        return;
    }
    search->standing = search->lo.process;
    note_after(search, search->standing);
    if (!steps || evaluate(search->expression, search->lo.process, search->run.bias) != TRUTH_TRUE)
        search->wrong = went_elsewhere;
}

static void note_begin(struct search *search) {
    struct run *run = &search->run;
    search->place = run->place - run->bias;
    search->ticks = read_ticks(run, &run->first, search->place);
    search->standing = run->first.process;
    note_after(search, search->standing);
}

void find_first_place(struct search *search) {
    struct run *run = &search->run;
    address_list begin = {0};
    note_before(search, run->first.process);
    if (search->from->count) {
        note_begin(search);
        return;
    }
    for (size_t i = 0; i < run->binary->names.count; i++)
        if (strcmp(run->binary->names.data[i].name, "main") == 0)
            vector_push(search->arena, &begin, run->binary->names.data[i].address);
    if (begin.count && go_to_place(run, &begin) == STOP_PLACE)
        note_begin(search);
}
