/* assemble.c: one unit on its way through the shim; see assemble.h.
 *
 *     parse -> functions -> distances -> measure (by the real assembler) -> instrument
 *           -> the real assembler
 *
 * What it does not understand it hands to the real assembler untouched. */
#include "cmd/assemble.h"

#include "asm/distances.h"
#include "asm/respell.h"
#include "cmd/cmd.h"
#include "cmd/earlier.h"
#include "pass/instrument.h"
#include "util/diag.h"
#include "util/fault.h"
#include "util/process.h"
#include "util/terminal.h"
#include "x86/coded.h"
#include "x86/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIGNALLED = 128 /* and the signal's number: the status of a program that one has ended */
};

/* The real assembler on TEXT.  NAMED: messages and debugging information give the input's name, not
 * that of standard input. */
static int assemble_text(const struct attempt *attempt, const struct buffer *text, bool named,
                         struct buffer *messages) {
    struct invocation *call = attempt->call;
    struct buffer input = {0};
    if (call->input && named) {
        buffer_text(&input, "# 1 \"");
        for (const char *c = call->input; *c; c++) {
            if (*c == '"' || *c == '\\')
                buffer_text(&input, "\\");
            buffer_add(&input, c, 1);
        }
        buffer_text(&input, "\"\n");
    }
    buffer_add(&input, text->data, text->count);
    call->final[call->final_count] = (char *)"-";
    int status = run_program_heard(call->final, input.data, input.count, attempt->trial, messages);
    call->final[call->final_count] = NULL;
    buffer_release(&input);
    return status;
}

/* The assembler's own messages quote names and source. */
static void pass_on(const struct buffer *messages) {
    write_text_safely(stderr, messages->data, messages->count, "\n\t");
}

int assemble_original(struct invocation *call, const struct buffer *input) {
    struct buffer messages = {0};
    call->final[call->final_count] = (char *)(call->input ? call->input : "-");
    int status = run_program_heard(call->final, call->input ? NULL : input->data,
                                   call->input ? 0 : input->count, false, &messages);
    call->final[call->final_count] = NULL;
    pass_on(&messages);
    buffer_release(&messages);
    return status;
}

/* ---- functions that are left alone ---- */

static void leave_alone(struct unit *unit, const struct attempt *attempt) {
    for (uint32_t i = 0; i < unit->functions.count; i++) {
        const char *reason = left_by_attempt(attempt, i);
        if (reason)
            unit->functions.data[i].left_alone = reason;
    }
}

/* A reason, and how many functions are left alone for it. */
struct left_reason {
    const struct asm_function *first;
    size_t count;
};

/* Counts REASONS of functions that the attempt itself has nothing against, and returns how many
 * there are; the most frequent one comes first.  A resolver is no loss that anybody could mend, and
 * configure scripts take any warning for a refusal of ifuncs. */
static size_t count_reasons(const struct unit *unit, const struct attempt *attempt,
                            struct left_reason *reasons) {
    size_t count = 0;
    for (uint32_t i = 0; i < unit->functions.count; i++) {
        const struct asm_function *function = &unit->functions.data[i];
        if (!function->left_alone || function->resolves || left_by_attempt(attempt, i))
            continue;
        size_t r = 0;
        while (r < count && strcmp(reasons[r].first->left_alone, function->left_alone) != 0)
            r++;
        if (r == count)
            reasons[count++] = (struct left_reason){function, 0};
        reasons[r].count++;
    }
    for (size_t r = 1; r < count; r++)
        if (reasons[r].count > reasons[0].count) {
            struct left_reason more = reasons[r];
            reasons[r] = reasons[0];
            reasons[0] = more;
        }
    return count;
}

/* One line for all of a file: what most of them have. */
static void warn_left_alone(const struct unit *unit, const struct attempt *attempt) {
    struct arena arena = {0};
    struct left_reason *reasons =
        ARENA_ARRAY(&arena, struct left_reason, unit->functions.count + 1);
    size_t count = count_reasons(unit, attempt, reasons), others = 0;
    for (size_t r = 1; r < count; r++)
        others += reasons[r].count;
    struct buffer more = {0};
    buffer_text(&more, "");
    if (count && reasons[0].count > 1)
        buffer_print(&more, ", like %zu more for that reason", reasons[0].count - 1);
    if (others)
        buffer_print(&more, "%s %zu for other reasons", more.count ? " and" : ", like", others);
    if (count) {
        const struct asm_function *first = reasons[0].first;
        const struct symbol *symbol = &unit->symbols.data[first->symbol];
        warn_at(unit->name, first->line, "'%.*s': %s; function left as it is%s%s",
                (int)symbol->length, symbol->name, first->left_alone, more.data,
                more.count ? "; 'quipu info' lists them" : "");
    }
    buffer_release(&more);
    arena_release(&arena);
}

static void warn_return_addresses(const struct unit *unit) {
    for (size_t i = 0; i < unit->functions.count; i++) {
        const struct asm_function *function = &unit->functions.data[i];
        const struct symbol *symbol = &unit->symbols.data[function->symbol];
        if (function->returns_elsewhere)
            warn_at(unit->name, function->line,
                    "'%.*s' changes or reads the address that it returns to; compile what calls it "
                    "in other files with '--quipu=none'",
                    (int)symbol->length, symbol->name);
    }
}

/* What a macro puts in no function that is seen, such as a function of its own, nobody lists. */
static void warn_macros(const struct unit *unit) {
    for (size_t i = 0; i < unit->statements.count; i++) {
        const struct statement *s = &unit->statements.data[i];
        if (!s->expands || unit->function_of[i] != NONE)
            continue;
        warn_at(unit->name, s->line,
                "'%.*s': a macro outside of functions; what it puts is left as it is",
                (int)statement_word(unit, s), unit->text + s->start);
        return;
    }
}

/* ---- the way of a unit ---- */

/* Whether the assembler refuses TEXT.  Where it takes it and yet failed, the output could not be
 * written, and its own message says why. */
static bool is_refused(struct invocation *call, const struct buffer *text) {
    char **argument = &call->final[call->final_count];
    argument[0] = (char *)"-o"; /* the last one counts */
    argument[1] = (char *)"/dev/null";
    argument[2] = (char *)"-";
    int status = run_program(call->final, text->data, text->count, true);
    argument[0] = argument[1] = argument[2] = NULL;
    return status != 0;
}

/* The assembler refuses the text: an error in the input is the user's, with messages of its own,
 * and what else there is a fault of ours. */
static int refuse(const struct attempt *attempt, const struct buffer *messages) {
    int status = attempt->trial ? 0 : assemble_original(attempt->call, attempt->input);
    if (status == 0 && is_guarded()) {
        if (getenv("QUIPU_STRICT") && !attempt->trial)
            pass_on(messages);
        end_by_fault("the assembler refuses its instrumented text");
    }
    if (status == 0)
        warn_at(attempt->call->input, 0,
                "internal error: the assembler refuses the instrumented text; file left as it is");
    return status;
}

static int instrument_and_assemble(struct attempt *attempt, struct unit *unit) {
    struct invocation *call = attempt->call;
    struct earlier_counts earlier;
    bool known = call->options.profile && open_earlier_counts(&earlier, call->options.profile);
    struct pass_options options = {.count = call->options.modes & MODE_COUNT,
                                   .events = events_of(&call->options),
                                   .calls = call->options.modes & MODE_CALLS,
                                   .watch = call->options.modes & MODE_WATCH,
                                   .null = call->options.modes & MODE_NULL,
                                   .eliminate = !call->options.all_checks,
                                   .earlier = known ? &earlier : NULL,
                                   .placement = call->options.placement,
                                   .shared = call->options.shared || !unit->compiled,
                                   .dump = attempt->trial ? 0 : call->options.dump};
    struct buffer text = {0}, messages = {0};
    size_t left_alone = instrument_unit(unit, &options, QUIPU_VERSION, &text);
    int status = assemble_text(attempt, &text, !unit->compiled, &messages);
    bool refused = status && is_refused(call, &text);
    if (!refused && !attempt->trial) {
        pass_on(&messages);
        if (left_alone)
            warn_left_alone(unit, attempt);
        warn_return_addresses(unit);
        warn_macros(unit);
    }
    if (status > SIGNALLED)
        error_at(unit->name, 0, "the assembler was ended by a signal: %s",
                 strsignal(status - SIGNALLED));
    if (refused)
        status = refuse(attempt, &messages);
    buffer_release(&text);
    buffer_release(&messages);
    return status;
}

static int instrument_input(void *context) {
    struct attempt *attempt = context;
    struct invocation *call = attempt->call;
    const struct buffer *input = attempt->input;
    const char *name = call->input ? call->input : "{standard input}";
    struct unit unit;
    parse_unit(&unit, name, attempt->text->data, attempt->text->count);
    find_coded_instructions(&unit, !(call->options.modes & MODE_WATCH));
    find_functions(&unit);
    fault_subjects((uint32_t)unit.functions.count);
    leave_alone(&unit, attempt);
    int status;
    if (!unit.functions.count) {
        status = assemble_original(call, input);
        warn_macros(&unit);
    } else if (!measure_unit(&unit, call->measuring)) {
        status = assemble_original(call, input);
        if (status == 0)
            warn_at(name, 0, "cannot be measured; file left as it is");
    } else {
        leave_distances(&unit);
        status = instrument_and_assemble(attempt, &unit);
    }
    arena_release(&unit.arena);
    return status;
}

int assemble_unit(struct invocation *call, const struct buffer *input) {
    struct buffer respelled = {0};
    bool other = respell(input, &respelled);
    struct attempt attempt = {.call = call, .input = input, .text = other ? &respelled : input};
    int status = assemble_despite_faults(&attempt, instrument_input);
    buffer_release(&respelled);
    arena_release(&attempt.arena);
    return status;
}
