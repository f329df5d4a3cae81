/* provoke.c: faults of the shim on demand, so that the suite sees that none breaks a build.
 *
 *     QUIPU_FAULT=KIND:FUNCTION     check, crash, text, edits: see the table
 *     QUIPU_FAULT=unit              a check that no function is to blame for */
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

/* The assembler refuses it. */
static void write_nonsense(struct pass_state *state, const struct asm_function *function) {
    insert_before(&state->edits, fragment_label(state->unit, &function->fragments.data[0]),
                  ".quipu_nonsense");
}

/* A check fails, but once all functions are done. */
static void overlap_edits(struct pass_state *state, const struct asm_function *function) {
    uint32_t at = fragment_label(state->unit, &function->fragments.data[0])->start;
    replace_text(&state->edits, at, 1, "");
    replace_text(&state->edits, at, 1, "");
}

static const struct {
    const char *kind;
    void (*provoke)(struct pass_state *state, const struct asm_function *function);
} faults[] = {
    {"check:", fail_check},
    {"crash:", crash},
    {"text:", write_nonsense},
    {"edits:", overlap_edits},
};

void provoke_fault(struct pass_state *state, const struct asm_function *function) {
    const char *wanted = getenv("QUIPU_FAULT");
    if (!function) {
        CHECK(!wanted || strcmp(wanted, "unit") != 0);
        return;
    }
    const struct symbol *symbol = &state->unit->symbols.data[function->symbol];
    for (size_t i = 0; wanted && i < sizeof faults / sizeof *faults; i++) {
        size_t length = strlen(faults[i].kind);
        if (strncmp(wanted, faults[i].kind, length) == 0 &&
            strlen(wanted + length) == symbol->length &&
            memcmp(wanted + length, symbol->name, symbol->length) == 0)
            faults[i].provoke(state, function);
    }
}
