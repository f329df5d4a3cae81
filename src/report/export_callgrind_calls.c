/* export_callgrind_calls.c: writes calls and their inclusive costs, from calling contexts.
 *
 *     fn=(3) scan
 *     ...
 *     cob=(1)
 *     cfi=(1)
 *     cfn=(4) look_up
 *     calls=25 0x11a0 40                 25 calls; address and line of the callee
 *     0x1162 17 3000                     address and line of the call; inclusive cost
 *
 * callgrind_annotate takes the sum of a function's incoming costs as its inclusive cost. So a call
 * within another call of the same function costs 0: its cost is part of the outer one's. A call
 * from code that is not instrumented has the caller "(not instrumented)" if no other function is on
 * its path. Otherwise its caller is the function on its path, at line 0.
 *
 * Functions without counts (in a build with --quipu=calls alone) get one line with all their own
 * instructions, at their entry.
 *
 * Not perfect: a call that began before a fork ends in the child, too. There it is written as one
 * call. */
#include "report/callgrind.h"

#include <inttypes.h>
#include <stdlib.h>

struct callgrind_calls {
    const struct contexts *contexts;
    call_vector calls;   /* sorted by caller */
    uint64_t *exclusive; /* by number of function */
};

static int compare_calls(const void *left, const void *right) {
    const struct call *a = left, *b = right;
    if (a->caller != b->caller)
        return a->caller < b->caller ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->callee < b->callee ? -1 : a->callee > b->callee;
}

const struct callgrind_calls *callgrind_find_calls(struct arena *arena,
                                                   const struct contexts *contexts) {
    struct callgrind_calls *calls = ARENA_NEW(arena, struct callgrind_calls);
    calls->contexts = contexts;
    calls->calls = contexts_calls(arena, contexts, CALLER_OF_PATH);
    calls->exclusive = ARENA_ARRAY(arena, uint64_t, contexts->places.functions.count);
    for (size_t i = 1; i < contexts->nodes.count; i++)
        calls->exclusive[contexts->nodes.data[i].function] += contexts->nodes.data[i].exclusive;
    if (calls->calls.count)
        qsort(calls->calls.data, calls->calls.count, sizeof *calls->calls.data, compare_calls);
    return calls;
}

static bool is_counted(const struct called_function *function) {
    return function->noted && function->noted->executed;
}

/* Makes the file of a call the current one. If the file changes, writes a line without cost:
 * callgrind_annotate cannot handle a file that has only calls, such as that of an inlined caller in
 * a function without counts. */
static void enter_file_of_call(struct callgrind *callgrind, const struct call_site *site,
                               const struct called_function *caller) {
    bool changes = !callgrind->lines_only && site->file != callgrind->file && !is_counted(caller);
    callgrind_enter_file(callgrind, site->file, caller->file);
    if (changes) {
        callgrind_position(callgrind, site->call, site->line);
        fputs(" 0\n", callgrind->out);
    }
}

static void write_call(struct callgrind *callgrind, const struct call *call) {
    const struct places *places = &callgrind->calls->contexts->places;
    const struct called_function *caller = vector_at(&places->functions, call->caller);
    const struct called_function *callee = vector_at(&places->functions, call->callee);
    const struct call_site *site = vector_at(&places->sites, call->site);
    bool here = call->caller && site->function == call->caller;
    if (!call->calls && !call->outermost)
        return;
    if (here)
        enter_file_of_call(callgrind, site, caller);
    else
        callgrind_enter_file(callgrind, caller->file, caller->file);
    callgrind_module(callgrind, "cob", callee->module);
    callgrind_file(callgrind, "cfi", callee->file);
    callgrind_function(callgrind, "cfn", callee->module, callee->address, callee->demangled);
    fprintf(callgrind->out, "calls=%" PRIu64 " ", call->calls ? call->calls : 1);
    callgrind_position(callgrind, callee->address, callee->line);
    fputc('\n', callgrind->out);
    callgrind_position(callgrind, here ? site->call : 0, here ? site->line : 0);
    fprintf(callgrind->out, " %" PRIu64 "\n", call->outermost);
}

/* Returns the index of the first call by function CALLER, or by one with a higher number. */
static size_t find_calls(const call_vector *calls, uint32_t caller) {
    size_t low = 0, high = calls->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vector_at(calls, middle)->caller < caller)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void write_calls(struct callgrind *callgrind, uint32_t caller) {
    const call_vector *calls = &callgrind->calls->calls;
    for (size_t i = find_calls(calls, caller); i < calls->count && calls->data[i].caller == caller;
         i++)
        write_call(callgrind, &calls->data[i]);
}

void callgrind_calls_of(struct callgrind *callgrind, const struct function *function) {
    uint32_t number = callgrind->calls ? places_find(&callgrind->calls->contexts->places,
                                                     function->module, function->address)
                                       : 0;
    if (number)
        write_calls(callgrind, number);
}

/* ---- functions without counts ---- */

uint64_t callgrind_uncounted(const struct callgrind *callgrind) {
    uint64_t sum = 0;
    if (!callgrind->calls)
        return 0;
    const struct places *places = &callgrind->calls->contexts->places;
    for (size_t i = 0; i < places->functions.count; i++)
        if (!is_counted(&places->functions.data[i]))
            sum += callgrind->calls->exclusive[i];
    return sum;
}

static void write_function(struct callgrind *callgrind, uint32_t number) {
    const struct callgrind_calls *calls = callgrind->calls;
    const struct called_function *function = vector_at(&calls->contexts->places.functions, number);
    size_t first = find_calls(&calls->calls, number);
    bool calling = first < calls->calls.count && calls->calls.data[first].caller == number;
    if (!calling && !calls->exclusive[number])
        return;
    fputc('\n', callgrind->out);
    callgrind_file(callgrind, "fl", function->file);
    callgrind->file = function->file;
    callgrind_function(callgrind, "fn", function->module, function->address, function->demangled);
    callgrind_position(callgrind, function->address, function->line);
    fprintf(callgrind->out, " %" PRIu64 "\n", calls->exclusive[number]);
    write_calls(callgrind, number);
}

void callgrind_write_uncounted(struct callgrind *callgrind, const struct module *module) {
    if (!callgrind->calls)
        return;
    const struct places *places = &callgrind->calls->contexts->places;
    for (size_t i = 0; i < places->functions.count; i++)
        if (places->functions.data[i].module == module && !is_counted(&places->functions.data[i]))
            write_function(callgrind, (uint32_t)i);
}
