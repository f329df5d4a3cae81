/* export_json_calls.c: writes calling contexts in the JSON export.
 *
 *     calls        null if there are none
 *       instructions  executed, in all trees
 *       threads       whose trees were added up
 *       functions[]   module (index), name, demangled, file, line, address (of the entry)
 *       sites[]       module, address (of the instruction behind the call), call (address of the
 *                     call; its last byte if that is not known), function (index into
 *                     functions), file, line
 *       callsites[]   caller, site, callee (indexes), calls, instructions (of the outermost of
 *                     these calls on each path, with all that they called), outermost (of those
 *                     within no other call of the callee: their sum over a callee is its inclusive
 *                     count)
 *       tree[]        parent (index into tree), site, function (indexes), calls, inclusive,
 *                     exclusive; parents precede their children
 *
 * An index is null if its item is not known, and for a parent if there is none. A module is null if
 * a function or site is in none. Recursion is folded in the tree: see format/calls.h. */
#include "report/export_json.h"
#include "report/view.h"

/* Writes the index of item NUMBER. NUMBER 0 means not known, and has no index. */
static void write_number(struct json_writer *json, const char *key, uint32_t number) {
    if (number)
        json_unsigned(json, key, number - 1);
    else
        json_null(json, key);
}

static void write_module(struct json_writer *json, const struct profile *profile,
                         const struct module *module) {
    if (module)
        json_unsigned(json, "module", module_number(profile, module));
    else
        json_null(json, "module");
}

static void write_function(struct json_writer *json, const struct profile *profile,
                           const struct called_function *function) {
    json_open_object(json, NULL);
    write_module(json, profile, function->module);
    json_string(json, "name", function->name);
    json_string(json, "demangled", function->demangled);
    export_json_file(json, profile, function->file);
    json_unsigned(json, "line", function->line);
    json_unsigned(json, "address", function->address);
    json_close(json);
}

static void write_site(struct json_writer *json, const struct profile *profile,
                       const struct call_site *site) {
    json_open_object(json, NULL);
    write_module(json, profile, site->module);
    json_unsigned(json, "address", site->address);
    json_unsigned(json, "call", site->call);
    write_number(json, "function", site->function);
    export_json_file(json, profile, site->file);
    json_unsigned(json, "line", site->line);
    json_close(json);
}

static void write_call(struct json_writer *json, const struct call *call) {
    json_open_object(json, NULL);
    write_number(json, "caller", call->caller);
    write_number(json, "site", call->site);
    write_number(json, "callee", call->callee);
    json_unsigned(json, "calls", call->calls);
    json_unsigned(json, "instructions", call->inclusive);
    json_unsigned(json, "outermost", call->outermost);
    json_close(json);
}

static void write_node(struct json_writer *json, const struct context *node) {
    json_open_object(json, NULL);
    write_number(json, "parent", node->parent);
    write_number(json, "site", node->site);
    write_number(json, "function", node->function);
    json_unsigned(json, "calls", node->calls);
    json_unsigned(json, "inclusive", node->inclusive);
    json_unsigned(json, "exclusive", node->exclusive);
    json_close(json);
}

static void write_callsites(struct json_writer *json, const struct contexts *contexts) {
    struct arena arena = {0};
    call_vector calls = contexts_calls(&arena, contexts, CALLER_OF_SITE);
    json_open_array(json, "callsites");
    for (size_t i = 0; i < calls.count; i++)
        write_call(json, &calls.data[i]);
    json_close(json);
    arena_release(&arena);
}

void export_json_calls(struct json_writer *json, const struct profile *profile,
                       const struct contexts *contexts) {
    if (!contexts) {
        json_null(json, "calls");
        return;
    }
    const struct places *places = &contexts->places;
    json_open_object(json, "calls");
    json_unsigned(json, "instructions", contexts->executed);
    json_unsigned(json, "threads", contexts->trees);
    json_open_array(json, "functions");
    for (size_t i = 1; i < places->functions.count; i++)
        write_function(json, profile, &places->functions.data[i]);
    json_close(json);
    json_open_array(json, "sites");
    for (size_t i = 1; i < places->sites.count; i++)
        write_site(json, profile, &places->sites.data[i]);
    json_close(json);
    write_callsites(json, contexts);
    json_open_array(json, "tree");
    for (size_t i = 1; i < contexts->nodes.count; i++)
        write_node(json, &contexts->nodes.data[i]);
    json_close(json);
    json_close(json);
}
