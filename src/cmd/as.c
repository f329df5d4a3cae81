/* as.c: the assembler that compilers find first.
 *
 *     parse -> functions -> measure (by the real assembler) -> instrument -> the real assembler
 *
 * It is a pure function of its input and options.  Options come by --quipu=... among its arguments
 * (from quipu cc's -Wa, so that compiler caches see them) or by $QUIPU_OPTIONS (link-time units).
 * What it does not understand it hands to the real assembler untouched. */
#include "cmd/cmd.h"
#include "cmd/earlier.h"
#include "cmd/options.h"

#include "pass/instrument.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "util/process.h"
#include "x86/coded.h"
#include "x86/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SIGNALLED = 128 /* and the signal's number: the status of a program that one has ended */
};

struct invocation {
    char **final; /* the real assembler's arguments, without the input */
    size_t final_count;
    char **measuring; /* those that matter to code, without input and output */
    size_t measuring_count;
    const char *input; /* NULL: standard input */
    unsigned inputs;
    bool foreign;       /* not for x86-64, or nothing to assemble */
    bool pads_branches; /* the assembler puts padding where it likes */
    struct shim_options options;
};

static bool has_prefix(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Options whose value is the next argument. */
static bool takes_value(const char *argument) {
    static const char *const names[] = {"-o", "-I", "--defsym",          "--MD",
                                        "-Z", "-T", "--debug-prefix-map"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(argument, names[i]) == 0)
            return true;
    return false;
}

/* Options that add output or debugging, and say nothing on how code is assembled. */
static bool is_only_final(const char *argument) {
    return has_prefix(argument, "-a") || has_prefix(argument, "-g") ||
           has_prefix(argument, "--g") || has_prefix(argument, "--MD") ||
           strcmp(argument, "-o") == 0 || strcmp(argument, "-v") == 0 ||
           strcmp(argument, "--statistics") == 0 || has_prefix(argument, "--listing");
}

static bool is_foreign(const char *argument) {
    return strcmp(argument, "--32") == 0 || strcmp(argument, "--x32") == 0 ||
           strcmp(argument, "--version") == 0 || strcmp(argument, "-version") == 0 ||
           has_prefix(argument, "--help") || strcmp(argument, "--target-help") == 0;
}

static void read_arguments(struct invocation *call, int argc, char **argv) {
    call->final = calloc((size_t)argc + 4, sizeof *call->final);
    call->measuring = calloc((size_t)argc + 4, sizeof *call->measuring);
    if (!call->final || !call->measuring)
        die("out of memory");
    char *assembler = getenv("QUIPU_AS");
    if (!assembler || !*assembler)
        assembler = (char *)"as";
    call->final[call->final_count++] = assembler;
    call->measuring[call->measuring_count++] = assembler;
    call->options = default_options();
    const char *options = getenv("QUIPU_OPTIONS");
    if (options)
        parse_options(&call->options, options);
    for (int i = 1; i < argc; i++) {
        char *argument = argv[i];
        if (has_prefix(argument, "--quipu=")) {
            parse_options(&call->options, argument + 8);
            continue;
        }
        bool value = takes_value(argument) && i + 1 < argc;
        call->foreign |= is_foreign(argument);
        call->pads_branches |=
            has_prefix(argument, "-mbranches-within") || has_prefix(argument, "-malign-branch");
        if (argument[0] != '-' || strcmp(argument, "--") == 0 || strcmp(argument, "-") == 0) {
            call->inputs++;
            call->input =
                strcmp(argument, "-") == 0 || strcmp(argument, "--") == 0 ? NULL : argument;
            continue;
        }
        call->final[call->final_count++] = argument;
        if (!is_only_final(argument))
            call->measuring[call->measuring_count++] = argument;
        if (!value)
            continue;
        call->final[call->final_count++] = argv[++i];
        if (!is_only_final(argument))
            call->measuring[call->measuring_count++] = argv[i];
    }
}

/* The real assembler on the untouched input, in our place. */
static int run_untouched(struct invocation *call, int argc, char **argv) {
    char **arguments = calloc((size_t)argc + 1, sizeof *arguments);
    if (!arguments)
        die("out of memory");
    size_t count = 0;
    arguments[count++] = call->final[0];
    for (int i = 1; i < argc; i++)
        if (!has_prefix(argv[i], "--quipu="))
            arguments[count++] = argv[i];
    execvp(arguments[0], arguments);
    error("cannot run the assembler '%s': %s", arguments[0], strerror(errno));
    return 127;
}

/* The real assembler on TEXT.  NAMED: messages and debugging information give the input's name, not
 * that of standard input. */
static int assemble_text(struct invocation *call, const char *text, size_t size, bool named) {
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
    buffer_add(&input, text, size);
    call->final[call->final_count] = (char *)"-";
    int status = run_program(call->final, input.data, input.count, false);
    call->final[call->final_count] = NULL;
    buffer_release(&input);
    return status;
}

/* The real assembler on the untouched input; messages are the user's own. */
static int assemble_original(struct invocation *call, const struct buffer *input) {
    if (!call->input)
        return assemble_text(call, input->data, input->count, false);
    call->final[call->final_count] = (char *)call->input;
    int status = run_program(call->final, NULL, 0, false);
    call->final[call->final_count] = NULL;
    return status;
}

static void warn_left_alone(const struct unit *unit, size_t count) {
    for (size_t i = 0; i < unit->functions.count; i++) {
        const struct asm_function *function = &unit->functions.data[i];
        if (!function->left_alone)
            continue;
        const struct symbol *symbol = &unit->symbols.data[function->symbol];
        if (count > 1)
            warn_at(unit->name, function->line,
                    "'%.*s': %s; function left as it is, like %zu more of this file that "
                    "'quipu info' lists",
                    (int)symbol->length, symbol->name, function->left_alone, count - 1);
        else
            warn_at(unit->name, function->line, "'%.*s': %s; function left as it is",
                    (int)symbol->length, symbol->name, function->left_alone);
        return;
    }
}

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

/* Ours is the fault: keep the text for a report, and give the user the untouched program. */
static int keep_and_retry(struct invocation *call, const struct buffer *text,
                          const struct buffer *input) {
    char *path = make_temporary("quipu-failed-");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fwrite(text->data, 1, text->count, file);
        fclose(file);
    }
    error_at(
        call->input, 0,
        "internal error: the assembler refused the instrumented text, kept in '%s'; the file is "
        "left as it is",
        path ? path : "(nowhere)");
    free(path);
    if (getenv("QUIPU_STRICT"))
        return 1;
    return assemble_original(call, input);
}

static int instrument_input(struct invocation *call, const struct buffer *input) {
    struct unit unit;
    struct buffer text = {0};
    const char *name = call->input ? call->input : "{standard input}";
    parse_unit(&unit, name, input->data, input->count);
    find_coded_instructions(&unit, !(call->options.modes & MODE_WATCH));
    find_functions(&unit);
    int status;
    if (!unit.functions.count) {
        status = assemble_original(call, input);
    } else if (!measure_unit(&unit, call->measuring)) {
        status = assemble_original(call, input);
        if (status == 0)
            warn_at(name, 0, "cannot be measured; file left as it is");
    } else {
        struct earlier_counts earlier;
        bool known = call->options.profile && open_earlier_counts(&earlier, call->options.profile);
        struct pass_options options = {.count = call->options.modes & MODE_COUNT,
                                       .events = events_of(&call->options),
                                       .calls = call->options.modes & MODE_CALLS,
                                       .watch = call->options.modes & MODE_WATCH,
                                       .eliminate = !call->options.all_checks,
                                       .earlier = known ? &earlier : NULL,
                                       .placement = call->options.placement,
                                       .shared = call->options.shared || !unit.compiled,
                                       .dump = call->options.dump};
        size_t left_alone = instrument_unit(&unit, &options, QUIPU_VERSION, &text);
        if (left_alone)
            warn_left_alone(&unit, left_alone);
        status = assemble_text(call, text.data, text.count, !unit.compiled);
        if (status > SIGNALLED)
            error_at(name, 0, "the assembler was ended by a signal: %s",
                     strsignal(status - SIGNALLED));
        if (status && is_refused(call, &text))
            status = keep_and_retry(call, &text, input);
    }
    buffer_release(&text);
    arena_release(&unit.arena);
    return status;
}

int cmd_as(int argc, char **argv) {
    struct invocation call = {0};
    read_arguments(&call, argc, argv);
    if (call.foreign || call.inputs > 1 || !call.options.modes)
        return run_untouched(&call, argc, argv);
    if (call.pads_branches) {
        warn_at(call.input, 0,
                "the assembler is told to pad branches, which moves code as it likes; "
                "file left as it is");
        return run_untouched(&call, argc, argv);
    }
    struct buffer input = {0};
    bool good =
        call.input ? buffer_read_file(&input, call.input) : buffer_read(&input, STDIN_FILENO);
    if (!good) {
        if (call.input)
            return run_untouched(&call, argc, argv); /* the assembler's own message */
        error("cannot read standard input: %s", strerror(errno));
        return 1;
    }
    buffer_text(&input, ""); /* a NUL even behind nothing */
    int status = instrument_input(&call, &input);
    buffer_release(&input);
    free(call.final);
    free(call.measuring);
    return status;
}
