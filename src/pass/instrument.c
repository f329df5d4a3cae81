/* instrument.c: the way of a unit through the shim: for each function
 *
 *     graph -> frequencies -> unrolled loops -> tails -> liveness -> places for counters -> ticks
 *           -> code and notes
 *
 * and the edited text at the end.  One arena is released after each function. */
#include "pass/instrument.h"

#include "flow/computed_jumps.h"
#include "flow/return_addresses.h"
#include "flow/stack_pointers.h"
#include "flow/system_calls.h"
#include "flow/told_addresses.h"
#include "x86/sequence.h"

/* Whether an instruction that stores, or calls, must be where its label is: no check can come
 * between, and no copy of it take its place. */
static bool has_told_store(const struct graph *graph) {
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        if (!block->closed || block->padding)
            continue;
        const struct graph_instruction *first = &graph->instructions.data[block->first];
        const struct decoded *decoded = first->decoded;
        if (graph->unit->statements.data[first->first_statement].kept)
            continue; /* a profiler's call, which writes nothing of the program's */
        if (decoded->store.kind != STORE_NONE || is_call_class(decoded->class))
            return true;
    }
    return false;
}

static void instrument_function(struct pass_state *state, struct asm_function *function,
                                struct arena *arena, uint32_t number) {
    struct graph graph;
    const struct pass_options *options = state->options;
    function->left_alone = build_graph(&graph, state->unit, function, arena,
                                       options->events.count > 0, counts_turns(&options->events));
    if (!function->left_alone && options->watch && has_told_store(&graph))
        function->left_alone = "a store whose address is told cannot be checked";
    if (function->left_alone) {
        state->unasked = true;
        return;
    }
    find_frequencies(&graph, options->earlier);
    if (!options->watch) { /* checks are in no copies */
        unroll_loops(&graph);
        if (!options->calls)
            find_tails(&graph);
    }
    find_liveness(&graph, options->shared || options->watch ? RESERVED_REGISTERS : 0);
    place_chords(&graph, options->placement);
    if (options->count)
        count_chords(&graph);
    count_events(&graph, options);
    check_graph(&graph);
    if (options->dump)
        dump_graph(&graph);
    insert_increments(state, &graph, number);
    provoke_fault(state, function);
}

/* Returns the number of functions that were left alone. */
static size_t instrument_functions(struct pass_state *state) {
    struct unit *unit = state->unit;
    state->edits = (struct edit_list){.arena = &unit->arena};
    state->named = ARENA_ARRAY(&unit->arena, uint32_t, unit->symbols.count);
    state->linked = ARENA_ARRAY(&unit->arena, uint32_t, unit->sections.count);
    state->moved_files = ARENA_ARRAY(&unit->arena, bool, unit->files.count);
    state->weights.count = 0;
    state->tail.count = 0;
    if (state->options->watch && state->options->shared)
        start_before_init(state);
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
    find_told_addresses(unit);
    find_scratch_keepers(unit);
    find_internal(&state);
    find_handlers(&state);
    size_t left_alone = instrument_functions(&state);
    if (state.unasked && relies_on_others(&state)) {
        for (size_t i = 0; i < unit->functions.count; i++)
            state.internal[i] = false;
        left_alone = instrument_functions(&state);
    }
    provoke_fault(&state, NULL);
    write_event_cells(&state);
    write_unit_note(&state, version);
    emit_unit(unit, &state.edits, out);
    buffer_text(out, "\n\t.att_syntax prefix\n");
    buffer_add(out, state.tail.data, state.tail.count);
    buffer_release(&state.tail);
    return left_alone;
}
