/* moments.c: the names of the moments of threads; see program.h. */
#include "debug/program.h"
#include "symbols/backtrace.h"
#include "symbols/event_tables.h"
#include "symbols/loop_forms.h"
#include "symbols/moment_name.h"
#include "x86/kernel.h"

/* Returns where the innermost call from code that ticks returns to, as linked, or 0. */
static uint64_t find_return(const struct played_program *program, pid_t number) {
    struct caller_list callers;
    read_callers(number, &callers);
    for (size_t i = 1; i < callers.count; i++) {
        uint64_t linked = callers.addresses[i] - program->bias;
        if (binary_segment(program->binary, linked) && has_events_at(program->binary, linked))
            return linked + 1;
    }
    return 0;
}

static const char *name_it(struct timeline *timeline, struct arena *arena, pid_t recorded,
                           const struct thread_ticks *ticks, uint64_t place, uint64_t calls) {
    const struct binary *binary = ticks->module->binary;
    return recorded_moment_text(arena, binary, place ? recorded_form(binary, place) : 0,
                                ticks->exact, calls,
                                player_thread_name(timeline->player, recorded));
}

const char *moment_name(struct timeline *timeline, struct arena *arena, pid_t recorded,
                        const struct thread_ticks *ticks, uint64_t returns) {
    return name_it(timeline, arena, recorded, ticks, ticks->place ? ticks->place : returns, 0);
}

struct moment thread_moment(struct timeline *timeline, struct arena *arena, pid_t recorded,
                            uint64_t address, bool counts) {
    struct thread_ticks ticks;
    struct moment moment = {"", ""};
    const struct played_program *program = program_of(timeline);
    pid_t number = own_number(timeline, recorded);
    if (!read_thread_ticks(timeline, recorded, address, &ticks)) {
        uint64_t linked = (address ? address : next_instruction(number)) - program->bias;
        if (program->binary && binary_segment(program->binary, linked))
            moment.line = line_text(arena, program->binary, linked);
        return moment;
    }
    program = ticks.module;
    uint64_t place = ticks.place ? ticks.place : find_return(program, number);
    uint64_t calls = ticks.place || !counts ? 0 : count_calls(timeline, recorded, ticks.ticks);
    moment.text = name_it(timeline, arena, recorded, &ticks, place, calls);
    if (place)
        moment.line = line_text(arena, program->binary, ticks.place ? place : place - 1);
    return moment;
}

struct moment describe_moment(struct timeline *timeline, struct arena *arena, pid_t recorded,
                              uint64_t address) {
    struct moment moment = thread_moment(timeline, arena, recorded, address, false);
    if (!*moment.text)
        moment.text =
            arena_print(arena, "behind event %llu", (unsigned long long)timeline->here.events);
    return moment;
}
