/* views_calls.c: the view by call site, from calling contexts (--quipu=calls).
 *
 * A row is all calls of one function from one call site. If code that is not instrumented makes a
 * call, its site is not known. Then the call belongs to the function that called that code, and no
 * line is shown. */
#include "report/view.h"

#include "data/calls.h"

enum call_column {
    CALL_CALLER,
    CALL_FILE,
    CALL_LINE,
    CALL_ADDRESS,
    CALL_CALLEE,
    CALL_CALLEE_FILE,
    CALL_CALLEE_LINE,
    CALL_MODULE,
    CALL_CALLS,
    CALL_INSTRUCTIONS,
    CALL_CALLER_DEMANGLED,
    CALL_CALLEE_DEMANGLED,
    CALL_SHARE,
    CALL_FROM,
    CALL_TO,
};

static const struct column call_columns[] = {
    [CALL_CALLER] = {"caller", "symbol", CELL_TEXT, false, NULL},
    [CALL_FILE] = {"file", "file", CELL_TEXT, false, NULL},
    [CALL_LINE] = {"line", "line", CELL_COUNT, false, NULL},
    [CALL_ADDRESS] = {"return_address", "address", CELL_ADDRESS, false, NULL},
    [CALL_CALLEE] = {"callee", "symbol", CELL_TEXT, false, NULL},
    [CALL_CALLEE_FILE] = {"callee_file", "file", CELL_TEXT, false, NULL},
    [CALL_CALLEE_LINE] = {"callee_line", "line", CELL_COUNT, false, NULL},
    [CALL_MODULE] = {"module", "module", CELL_TEXT, false, NULL},
    [CALL_CALLS] = {"calls", "calls", CELL_COUNT, false, "calls"},
    [CALL_INSTRUCTIONS] = {"instructions", "inclusive", CELL_COUNT, false, NULL},
    [CALL_CALLER_DEMANGLED] = {"caller_demangled", "demangled", CELL_TEXT, false, NULL},
    [CALL_CALLEE_DEMANGLED] = {"callee_demangled", "demangled", CELL_TEXT, false, NULL},
    [CALL_SHARE] = {"percent", "%", CELL_SHARE, true, NULL},
    [CALL_FROM] = {"from", "caller", CELL_TEXT, true, NULL},
    [CALL_TO] = {"to", "callee", CELL_TEXT, true, NULL},
};

/* Whether the filter shows a call, by its caller or its callee. */
static bool shows_call(const struct view_input *input, const struct called_function *caller,
                       const struct called_function *callee, const struct call_site *site) {
    const struct view_filter *filter = &input->filter;
    bool file = shows_file(input, site->file) || shows_file(input, callee->file);
    bool module = (site->module && shows_module(input, site->module)) ||
                  (callee->module && shows_module(input, callee->module)) || !filter->modules.count;
    bool function = matches_function(filter->functions, caller->name, caller->demangled) ||
                    matches_function(filter->functions, callee->name, callee->demangled);
    return file && module && function;
}

static const char *shown_name(const struct view_input *input,
                              const struct called_function *function) {
    return styled_name(input->arena, input->names, function->name, function->demangled);
}

/* Returns "main (max.c:12)", for example. */
static const char *caller_text(const struct view_input *input, const struct called_function *caller,
                               const struct call_site *site) {
    const char *name = shown_name(input, caller);
    const char *place = location_text(input->arena, input->profile, site->file, site->line);
    return *place ? arena_print(input->arena, "%s (%s)", name, place) : name;
}

static void show_call(struct view_input *input, const struct places *places,
                      const struct call *call) {
    const struct called_function *caller = vector_at(&places->functions, call->caller);
    const struct called_function *callee = vector_at(&places->functions, call->callee);
    const struct call_site *site = vector_at(&places->sites, call->site);
    if ((!call->calls && !call->inclusive) || !shows_call(input, caller, callee, site))
        return;
    struct row *row = table_add(input->table);
    row->share = share_of_all(input, call->inclusive);
    row->executed = true;
    row->cells[CALL_CALLER] = cell_text(call->caller ? caller->name : NULL);
    row->cells[CALL_FILE] = cell_text(input->profile->files.data[site->file]);
    row->cells[CALL_LINE] = cell_known(site->line, site->line);
    row->cells[CALL_ADDRESS] = cell_known(site->address, site->module);
    row->cells[CALL_CALLEE] = cell_text(call->callee ? callee->name : NULL);
    row->cells[CALL_CALLEE_FILE] = cell_text(input->profile->files.data[callee->file]);
    row->cells[CALL_CALLEE_LINE] = cell_known(callee->line, callee->line);
    row->cells[CALL_MODULE] = cell_text(site->module ? site->module->path : NULL);
    row->cells[CALL_CALLS] = cell_count(call->calls);
    row->cells[CALL_INSTRUCTIONS] = cell_count(call->inclusive);
    row->cells[CALL_CALLER_DEMANGLED] = cell_text(call->caller ? caller->demangled : NULL);
    row->cells[CALL_CALLEE_DEMANGLED] = cell_text(call->callee ? callee->demangled : NULL);
    row->cells[CALL_SHARE] = cell_share(row->share);
    row->cells[CALL_FROM] = cell_text(caller_text(input, caller, site));
    row->cells[CALL_TO] = cell_text(shown_name(input, callee));
}

static void collect_calls(struct view_input *input) {
    struct contexts contexts;
    struct arena scratch = {0};
    contexts_need(input->profile, input->selection, false, &contexts);
    input->executed = contexts.executed;
    call_vector calls = contexts_calls(&scratch, &contexts, CALLER_OF_SITE);
    for (size_t i = 0; i < calls.count; i++)
        show_call(input, &contexts.places, &calls.data[i]);
    arena_release(&scratch);
    contexts_release(&contexts);
}

static const uint8_t call_text[] = {CALL_INSTRUCTIONS, CALL_SHARE, CALL_CALLS, CALL_TO, CALL_FROM};

const struct view view_callsite = {
    .name = "callsite",
    .help = "calls from each place, with all that they executed (--quipu=calls)",
    .shape =
        &(const struct table_shape){
            .name = "callsites",
            .columns = call_columns,
            .column_count = sizeof call_columns / sizeof *call_columns,
            .text = call_text,
            .text_count = sizeof call_text,
            .sort = "instructions",
        },
    .collect = collect_calls,
};
