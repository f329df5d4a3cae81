/* as.c: the arguments of the shim, which compilers find as their assembler. assemble.c does the
 * work.
 *
 * The output depends only on the input and the options. Options come from --quipu=... among the
 * arguments (quipu cc passes it by -Wa, so that compiler caches see it), or from $QUIPU_OPTIONS
 * (for units of link-time optimization). The real assembler gets input that the shim does not
 * understand, unchanged. */
#include "cmd/assemble.h"
#include "cmd/cmd.h"

#include "util/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_prefix(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Whether the next argument is the value of ARGUMENT. */
static bool takes_value(const char *argument) {
    static const char *const names[] = {"-o", "-I", "--defsym",          "--MD",
                                        "-Z", "-T", "--debug-prefix-map"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(argument, names[i]) == 0)
            return true;
    return false;
}

/* -g, -gdwarf-5, --gen-debug, ... */
static bool is_debugging(const char *argument) {
    return has_prefix(argument, "-g") || has_prefix(argument, "--g");
}

/* Whether ARGUMENT only adds output or debugging information, and does not change the assembled
 * code. */
static bool is_only_final(const char *argument) {
    return has_prefix(argument, "-a") || is_debugging(argument) || has_prefix(argument, "--MD") ||
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
        call->numbers |= is_debugging(argument);
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

/* Replaces this process by the real assembler, with the original input. Returns 127, with a
 * message, if that fails. */
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

int cmd_as(int argc, char **argv) {
    struct invocation call = {.program = argv[0]};
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
            return run_untouched(&call, argc, argv); /* the assembler reports the error */
        error("cannot read standard input: %s", strerror(errno));
        return 1;
    }
    buffer_text(&input, ""); /* a final NUL, even if the input is empty */
    int status = assemble_unit(&call, &input);
    buffer_release(&input);
    free(call.final);
    free(call.measuring);
    return status;
}
