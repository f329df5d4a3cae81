/* instrument.c: instruments a unit. For each function:
 *
 *     graph -> the stages of stages.c -> code and notes
 *
 * The edited text is written at the end. One arena serves one function after the other. */
#include "pass/instrument.h"

#include "asm/locations.h"
#include "flow/computed_jumps.h"
#include "flow/recorded_addresses.h"
#include "flow/return_addresses.h"
#include "flow/stack_pointers.h"
#include "flow/system_calls.h"
#include "pass/feature.h"
#include "pass/stages.h"
#include "util/fault.h"

static void instrument_function(struct pass_state *state, struct asm_function *function,
                                struct arena *arena, uint32_t number) {
    struct graph graph;
    const struct pass_options *options = state->options;
    fault_stage("graph");
    /* A function of an instrumented C library has records, so a trace needs one behind its call. */
    bool calls_query = options->events.count > 0 || (options->trace && options->libc);
    function->left_alone = build_graph(&graph, state->unit, &state->index, function, arena,
                                       calls_query, counts_turns(&options->events));
    for (size_t i = 0; i < state->on_count && !function->left_alone; i++)
        if (state->on[i]->prepare)
            function->left_alone = state->on[i]->prepare(state, &graph);
    if (function->left_alone) {
        state->unasked = true;
        return;
    }
    run_stages(state, &graph);
    insert_increments(state, &graph, number);
    provoke_fault(state, function);
}

/* Returns the number of functions that were left alone. */
static size_t instrument_functions(struct pass_state *state) {
    struct unit *unit = state->unit;
    state->index = make_graph_index(unit);
    state->edits = (struct edit_list){.arena = &unit->arena};
    if (unit->numbered)
        keep_own_lines(unit, &state->edits);
    state->named = ARENA_ARRAY(&unit->arena, uint32_t, unit->symbols.count);
    state->linked = ARENA_ARRAY(&unit->arena, uint32_t, unit->sections.count);
    state->moved_files = ARENA_ARRAY(&unit->arena, bool, unit->files.count);
    state->tail.count = 0;
    RUN_HOOKS(state, begin_unit, state);
    struct arena arena = {0};
    size_t left_alone = 0;
    for (uint32_t i = 0; i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        if (function->bare)
            continue;
        if (!function->left_alone) {
            tell_subject(unit, i);
            instrument_function(state, function, &arena, i);
        }
        if (function->left_alone) {
            write_left_alone_note(state, function);
            left_alone++;
        }
        arena_release(&arena);
    }
    tell_subject(unit, NONE);
    return left_alone;
}

static bool relies_on_others(const struct pass_state *state) {
    for (size_t i = 0; i < state->unit->functions.count; i++)
        if (state->internal[i])
            return true;
    return false;
}

size_t instrument_unit(struct unit *unit, const struct pass_options *options, const char *version,
                       struct buffer *out) {
    struct pass_state state = {.unit = unit, .options = options};
    leave_return_addresses(unit);
    leave_system_calls(unit);
    leave_computed_jumps(unit);
    leave_stack_pointers(unit);
    find_recorded_addresses(unit);
    find_scratch_keepers(unit);
    find_internal(&state);
    choose_features(&state);
    size_t left_alone = instrument_functions(&state);
    if (state.unasked && (state.relies_on_checks || relies_on_others(&state))) {
        for (size_t i = 0; i < unit->functions.count; i++)
            state.internal[i] = false;
        left_alone = instrument_functions(&state);
    }
    provoke_fault(&state, NULL);
    RUN_HOOKS(&state, end_unit, &state);
    write_unit_note(&state, version);
    emit_unit(unit, &state.edits, out);
    buffer_text(out, "\n\t.att_syntax prefix\n");
    buffer_add(out, state.tail.data, state.tail.count);
    buffer_release(&state.tail);
    return left_alone;
}
