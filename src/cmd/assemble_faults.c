/* assemble_faults.c: a fault of quipu's own does not end the user's build; see assemble.h.
 *
 * Each attempt at a unit is a process of its own (util/fault.h) that begins with the text, so
 * nothing must be undone. If a check fails or the shim crashes during the work on one function, the
 * next attempt leaves that function alone. If the fault has no such function, or the assembler
 * refuses the text, a binary search finds the functions that cause the fault. If no function causes
 * it, the file is left alone.
 *
 * Not perfect: a fault that only two functions together cause leaves the file alone. */
#include "cmd/assemble.h"

#include "util/diag.h"
#include "util/fault.h"
#include "util/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLAMES_MAX = 64, /* functions of one file that may be left alone because of faults */
    TRIALS_MAX = 400
};

const char *left_by_attempt(const struct attempt *attempt, uint32_t number) {
    for (size_t i = 0; i < attempt->blames.count; i++)
        if (attempt->blames.data[i].function == number)
            return attempt->blames.data[i].reason;
    bool wanted = !attempt->trial || (number >= attempt->first && number < attempt->last);
    return wanted ? NULL : "left out to find what a fault comes from";
}

/* Blames FUNCTION for FAULT. Returns false if it was blamed before, or if there are now too
 * many. */
static bool blame(struct attempt *attempt, uint32_t function, const struct fault *fault) {
    for (size_t i = 0; i < attempt->blames.count; i++)
        if (attempt->blames.data[i].function == function)
            return false;
    struct blame blame = {.function = function,
                          .line = fault->line,
                          .name = arena_copy(&attempt->arena, fault->name, strlen(fault->name)),
                          .reason = arena_print(&attempt->arena, "internal error: %s%s%s%s",
                                                fault->reason, *fault->stage ? ", stage '" : "",
                                                fault->stage, *fault->stage ? "'" : "")};
    vector_push(&attempt->arena, &attempt->blames, blame);
    return attempt->blames.count <= BLAMES_MAX;
}

/* ---- which functions cause a fault ---- */

struct trials {
    struct attempt *attempt;
    int (*work)(void *attempt);
    unsigned count;
};

/* Whether a trial with only functions [FIRST, LAST) succeeds. If not, FAULT describes its fault. */
static bool are_well(struct trials *trials, uint32_t first, uint32_t last, struct fault *fault) {
    struct attempt attempt = *trials->attempt;
    int status;
    attempt.trial = true;
    attempt.first = first;
    attempt.last = last;
    trials->count++;
    return run_guarded(trials->work, &attempt, fault, &status) && status == 0;
}

/* Blames the functions among [FIRST, LAST) that cause a fault. Returns false if that takes too many
 * trials, or if too many functions are blamed. */
static bool blame_among(struct trials *trials, uint32_t first, uint32_t last) {
    struct fault fault;
    if (trials->count >= TRIALS_MAX)
        return false;
    if (first == last || are_well(trials, first, last, &fault))
        return true;
    if (last - first == 1)
        return blame(trials->attempt, first, &fault);
    uint32_t middle = first + (last - first) / 2;
    return blame_among(trials, first, middle) && blame_among(trials, middle, last);
}

/* Blames the functions that cause FAULT. Returns whether the unit may succeed without them. */
static bool find_culprits(struct attempt *attempt, int (*work)(void *attempt),
                          const struct fault *fault) {
    struct trials trials = {.attempt = attempt, .work = work};
    struct fault none;
    size_t before = attempt->blames.count;
    if (fault->subject)
        return blame(attempt, fault->subject - 1, fault);
    return fault->subjects && are_well(&trials, 0, 0, &none) &&
           blame_among(&trials, 0, fault->subjects) && attempt->blames.count > before;
}

/* ---- messages ---- */

static void add_word(struct buffer *command, const char *word) {
    bool plain = *word != '\0';
    for (const char *c = word; *c; c++)
        plain &= strchr("\"'\\ \t\n$`*?[](){}<>|&;#~!", *c) == NULL;
    buffer_text(command, plain ? " " : " '");
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            buffer_text(command, "'\\''");
        else
            buffer_add(command, c, 1);
    buffer_text(command, plain ? "" : "'");
}

/* Returns the path of a new file that contains the input, or NULL if it cannot be written. The
 * caller frees the path. */
static char *keep_input(const struct buffer *input) {
    char *path = make_temporary("quipu-failed-");
    FILE *file = path ? fopen(path, "we") : NULL;
    bool good = file && fwrite(input->data, 1, input->count, file) == input->count;
    if (file && fclose(file) != 0)
        good = false;
    if (good)
        return path;
    free(path);
    return NULL;
}

/* Appends "; please report this with the input, kept in '...'; run again: ...". */
static void tell_command(struct attempt *attempt, struct buffer *text) {
    struct invocation *call = attempt->call;
    char *path = keep_input(attempt->input);
    if (!path) {
        buffer_text(text, "; please report this");
        return;
    }
    struct buffer command = {0};
    buffer_print(&command, "QUIPU_STRICT=1 %s", call->program);
    add_word(&command,
             arena_print(&attempt->arena, "--quipu=%s", print_options(&call->options, "")));
    for (size_t i = 1; i < call->measuring_count; i++)
        add_word(&command, call->measuring[i]);
    buffer_text(&command, " -o /dev/null");
    add_word(&command, path);
    buffer_print(text, "; please report this with the input, kept in '%s'; run again: %s", path,
                 command.data);
    buffer_release(&command);
    free(path);
}

typedef void message_at(const char *file, unsigned line, const char *format, ...);

static void tell_blames(struct attempt *attempt, message_at *say) {
    const struct blame *first = attempt->blames.data;
    struct buffer more = {0};
    buffer_text(&more, "");
    if (attempt->blames.count > 1)
        buffer_print(&more, ", like %zu more of this file", attempt->blames.count - 1);
    tell_command(attempt, &more);
    say(attempt->call->input, first->line, "'%s': %s; function left as it is%s", first->name,
        first->reason, more.data);
    buffer_release(&more);
}

static void tell_fault(struct attempt *attempt, const struct fault *fault, message_at *say) {
    struct buffer more = {0};
    tell_command(attempt, &more);
    say(attempt->call->input, 0, "internal error: %s; file left as it is%s", fault->reason,
        more.data);
    buffer_release(&more);
}

int assemble_despite_faults(struct attempt *attempt, int (*work)(void *attempt)) {
    message_at *say = getenv("QUIPU_STRICT") ? error_at : warn_at;
    struct fault fault;
    int status;
    while (!run_guarded(work, attempt, &fault, &status))
        if (!find_culprits(attempt, work, &fault)) {
            tell_fault(attempt, &fault, say);
            return say == error_at ? 1 : assemble_original(attempt->call, attempt->input);
        }
    if (!attempt->blames.count)
        return status;
    tell_blames(attempt, say);
    return say == error_at ? 1 : status;
}
