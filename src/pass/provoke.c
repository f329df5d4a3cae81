/* provoke.c: causes faults of the shim, for tests that no fault breaks a build.
 *
 *     QUIPU_FAULT=KIND:FUNCTION     check, crash, text, edits: see the table
 *     QUIPU_FAULT=STAGE:FUNCTION    the results of that stage are made wrong
 *     QUIPU_FAULT=unit              a check fails that concerns no function */
#include "pass/pass.h"

#include "util/diag.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void fail_check(struct pass_state *state, const struct asm_function *function) {
    (void)state;
    CHECK(function == NULL);
}

static void crash(struct pass_state *state, const struct asm_function *function) {
    (void)state;
    (void)function;
    raise(SIGSEGV);
}

/* The assembler rejects this text. */
static void write_nonsense(struct pass_state *state, const struct asm_function *function) {
    insert_before(&state->edits, fragment_label(state->unit, &function->fragments.data[0]),
                  ".quipu_nonsense");
}

/* Makes a check fail, but only after all functions are done. */
static void overlap_edits(struct pass_state *state, const struct asm_function *function) {
    uint32_t at = fragment_label(state->unit, &function->fragments.data[0])->start;
    replace_text(&state->edits, at, 1, "");
    replace_text(&state->edits, at, 1, "");
}

static const struct {
    const char *kind;
    void (*provoke)(struct pass_state *state, const struct asm_function *function);
} faults[] = {
    {"check", fail_check},
    {"crash", crash},
    {"text", write_nonsense},
    {"edits", overlap_edits},
};

static bool is_wanted(const struct pass_state *state, const struct asm_function *function,
                      const char *kind) {
    const char *wanted = getenv("QUIPU_FAULT");
    const struct symbol *symbol = &state->unit->symbols.data[function->symbol];
    size_t length = strlen(kind);
    return wanted && strncmp(wanted, kind, length) == 0 && wanted[length] == ':' &&
           strlen(wanted + length + 1) == symbol->length &&
           memcmp(wanted + length + 1, symbol->name, symbol->length) == 0;
}

void provoke_fault(struct pass_state *state, const struct asm_function *function) {
    const char *wanted = getenv("QUIPU_FAULT");
    if (!function) {
        CHECK(!wanted || strcmp(wanted, "unit") != 0);
        return;
    }
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (is_wanted(state, function, faults[i].kind))
            faults[i].provoke(state, function);
}

/* ---- stages ---- */

static void break_shape(struct graph *graph) {
    graph->edges.data[0].target += 1000;
}

static void break_frequencies(struct graph *graph) {
    graph->blocks.data[0].frequency = -1;
}

static void break_copies(struct graph *graph) {
    graph->blocks.data[0].copy = 1;
}

static void break_tails(struct graph *graph) {
    for (size_t b = 0; b < graph->blocks.count; b++)
        graph->blocks.data[b].tail = true;
}

static void break_liveness(struct graph *graph) {
    graph->blocks.data[0].live_in = 0;
}

static void break_tree(struct graph *graph) {
    for (size_t b = 0; b < graph->blocks.count; b++)
        graph->blocks.data[b].chord = false;
    for (size_t i = 0; i < graph->edges.count; i++)
        graph->edges.data[i].chord = false;
}

static void break_counters(struct graph *graph) {
    graph->blocks.data[0].cell = graph->cell_count + 1;
}

static const struct {
    const char *stage;
    void (*spoil)(struct graph *graph);
} spoilers[] = {
    {"graph", break_shape},       {"frequencies", break_frequencies}, {"loops", break_copies},
    {"tails", break_tails},       {"liveness", break_liveness},       {"tree", break_tree},
    {"counters", break_counters},
};

void provoke_stage_fault(const struct pass_state *state, struct graph *graph, const char *stage) {
    if (!is_wanted(state, graph->function, stage))
        return;
    for (size_t i = 0; i < sizeof spoilers / sizeof *spoilers; i++)
        if (strcmp(spoilers[i].stage, stage) == 0)
            spoilers[i].spoil(graph);
}
