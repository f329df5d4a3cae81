/* assemble.c: instruments and assembles one unit; see assemble.h.
 *
 *     parse -> functions -> distances -> measure (by the real assembler) -> instrument
 *           -> the real assembler
 *
 * The real assembler gets input that the shim does not understand, unchanged. */
#include "cmd/assemble.h"

#include "asm/distances.h"
#include "asm/locations.h"
#include "asm/respell.h"
#include "cmd/cmd.h"
#include "cmd/earlier.h"
#include "cmd/source_position.h"
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
    SIGNALLED = 128 /* plus the signal's number: the status of a program that a signal ended */
};

/* Runs the real assembler on TEXT, and returns its status. NAMED: messages and debugging
 * information name the input file, not standard input. */
static int assemble_text(const struct attempt *attempt, const struct buffer *text, bool named,
                         struct buffer *messages) {
    struct invocation *call = attempt->call;
    struct buffer input = {0};
    if (call->input && named) {
        buffer_text(&input, "# 1 ");
        write_quoted(&input, call->input);
        buffer_text(&input, "\n");
    }
    buffer_add(&input, text->data, text->count);
    call->final[call->final_count] = (char *)"-";
    int status = run_program_heard(call->final, input.data, input.count, attempt->trial, messages);
    call->final[call->final_count] = NULL;
    buffer_release(&input);
    return status;
}

/* Prints messages of the assembler. They quote names and source, which may contain any byte. */
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

/* A reason, and the number of functions that are left alone for it. */
struct left_reason {
    const struct asm_function *first;
    size_t count;
};

/* Sets REASONS to why functions are left alone, the most frequent reason first, and returns their
 * number. Functions that the attempt itself leaves alone are not counted. Resolvers are not
 * counted, either: the user can do nothing about them, and configure scripts understand any warning
 * as a refusal of ifuncs. */
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

/* Prints one warning for all functions of a file, with the most frequent reason. */
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
        struct source_position position = position_of_function(unit, first, &arena);
        warn_at(position.file, position.line, "'%.*s': %s; function left as it is%s%s",
                (int)symbol->length, symbol->name, first->left_alone, more.data,
                more.count ? "; 'quipu info' lists them" : "");
    }
    buffer_release(&more);
    arena_release(&arena);
}

static void warn_return_addresses(const struct unit *unit) {
    struct arena arena = {0};
    for (size_t i = 0; i < unit->functions.count; i++) {
        const struct asm_function *function = &unit->functions.data[i];
        const struct symbol *symbol = &unit->symbols.data[function->symbol];
        if (!function->returns_elsewhere)
            continue;
        struct source_position position = position_of_function(unit, function, &arena);
        warn_at(position.file, position.line,
                "'%.*s' changes or reads the address that it returns to; compile what calls it "
                "in other files with '--quipu=none'",
                (int)symbol->length, symbol->name);
    }
    arena_release(&arena);
}

/* Warns of the first macro that is used outside of the functions that quipu sees. What it contains,
 * such as a function of its own, is in no list. */
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

/* ---- one unit ---- */

/* Whether the assembler refuses TEXT. If it accepts TEXT and has failed, it could not write its
 * output, and its own message gives the reason. */
static bool is_refused(struct invocation *call, const struct buffer *text) {
    char **argument = &call->final[call->final_count];
    argument[0] = (char *)"-o"; /* the last -o is in effect */
    argument[1] = (char *)"/dev/null";
    argument[2] = (char *)"-";
    int status = run_program(call->final, text->data, text->count, true);
    argument[0] = argument[1] = argument[2] = NULL;
    return status != 0;
}

/* The assembler has refused the instrumented text. If it refuses the original text, too, the error
 * is the user's, and the assembler's messages are about that text. Otherwise it is a fault of
 * quipu's own. Returns the exit status. */
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
                                   .trace = call->options.modes & MODE_TRACE,
                                   .null = call->options.modes & MODE_NULL,
                                   .eliminate = !call->options.all_checks,
                                   .earlier = known ? &earlier : NULL,
                                   .placement = call->options.placement,
                                   .libc = call->options.libc,
                                   .shared = call->options.shared || !unit->compiled,
                                   .dump = attempt->trial ? 0 : call->options.dump};
    struct buffer text = {0}, messages = {0};
    size_t left_alone = instrument_unit(unit, &options, QUIPU_VERSION, &text);
    bool named = !unit->compiled || unit->numbered;
    int status = assemble_text(attempt, &text, named, &messages);
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
    unit.numbered =
        call->numbers && !unit.locations.count && !unit.files.count && !unit.counts_lines;
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
