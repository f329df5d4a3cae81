/* comparison_sides.c: makes the rows of a profile that are compared: functions by their own counts
 * or with all that they call, and calls from each call site.
 *
 * Not perfect: functions of the same name and file, such as those of two shared objects, are one
 * row. Calls from two copies of a function are separate rows. */
#include "report/comparison.h"

#include "report/source_functions.h"
#include "util/path.h"

#include <string.h>

/* ---- functions, their own instructions ---- */

static uint64_t executed_in(const struct source_function *function) {
    uint64_t executed = 0;
    for (size_t i = 0; i < function->copy_count; i++)
        executed += function->copies[i]->executed;
    return executed;
}

/* Returns the row of a function, without counts. */
static struct side_row row_of(const char *name, const char *demangled, const char *file,
                              uint32_t line) {
    return (struct side_row){.name = name,
                             .demangled = demangled,
                             .callee = "",
                             .callee_demangled = "",
                             .file = file,
                             .line = line,
                             .place = file};
}

static struct side function_side(struct arena *arena, const struct profile *profile) {
    struct source_functions functions = find_source_functions(arena, profile);
    struct side side = {ARENA_ARRAY(arena, struct side_row, functions.count), functions.count, 0};
    for (size_t i = 0; i < functions.count; i++) {
        const struct source_function *function = &functions.data[i];
        side.rows[i] = row_of(function->name, function->demangled,
                              profile->files.data[function->file], function->line);
        side.rows[i].instructions = executed_in(function);
        side.rows[i].calls = function->calls;
        side.instructions += side.rows[i].instructions;
    }
    return side;
}

struct comparison compare_profiles(struct arena *arena, const struct profile *before,
                                   const struct profile *after) {
    struct side sides[SIDES] = {function_side(arena, before), function_side(arena, after)};
    return match_sides(arena, sides, MATCH_ONLY_ONE);
}

/* ---- functions with all that they call ---- */

static const char *file_name(const struct contexts *contexts, uint32_t file) {
    return contexts->places.profile->files.data[file];
}

/* Makes the rows of SIDE. Returns the number of the row of each called function, by the function's
 * number. Functions of the same name and file have the same row. */
static const uint32_t *number_rows(struct arena *arena, const struct contexts *contexts,
                                   struct side *side) {
    size_t count = contexts->places.functions.count;
    uint32_t *numbers = ARENA_ARRAY(arena, uint32_t, count);
    struct map known = {0};
    side->rows = ARENA_ARRAY(arena, struct side_row, count);
    for (size_t i = 0; i < count; i++) {
        const struct called_function *function = &contexts->places.functions.data[i];
        const char *file = file_name(contexts, function->file);
        const char *key = arena_print(arena, "%s\n%s", function->name, file);
        uint32_t fresh = (uint32_t)side->count;
        numbers[i] = *map_add(arena, &known, key, strlen(key), fresh);
        if (numbers[i] != fresh)
            continue;
        side->rows[side->count++] =
            row_of(function->name, function->demangled, file, function->line);
    }
    return numbers;
}

/* Whether a function of the same row calls NODE, directly or through others. */
static bool is_nested(const struct contexts *contexts, const uint32_t *numbers,
                      const struct context *node) {
    for (uint32_t above = node->parent; above;) {
        const struct context *outer = vector_at(&contexts->nodes, above);
        if (numbers[outer->function] == numbers[node->function])
            return true;
        above = outer->parent;
    }
    return false;
}

/* Removes functions that only call others, and for which no call is known. */
static void drop_uncalled(struct side *side) {
    size_t kept = 0;
    for (size_t i = 0; i < side->count; i++)
        if (side->rows[i].calls || side->rows[i].instructions)
            side->rows[kept++] = side->rows[i];
    side->count = kept;
}

static struct side inclusive_side(struct arena *arena, const struct contexts *contexts) {
    struct side side = {.instructions = contexts->executed};
    const uint32_t *numbers = number_rows(arena, contexts, &side);
    for (size_t i = 1; i < contexts->nodes.count; i++) {
        const struct context *node = &contexts->nodes.data[i];
        struct side_row *row = &side.rows[numbers[node->function]];
        row->calls += node->calls;
        if (!is_nested(contexts, numbers, node))
            row->instructions += node->inclusive;
    }
    drop_uncalled(&side);
    return side;
}

struct comparison compare_inclusive(struct arena *arena, const struct contexts *before,
                                    const struct contexts *after) {
    struct side sides[SIDES] = {inclusive_side(arena, before), inclusive_side(arena, after)};
    return match_sides(arena, sides, MATCH_ONLY_ONE);
}

/* ---- calls ---- */

static struct side call_side(struct arena *arena, const struct contexts *contexts) {
    const struct places *places = &contexts->places;
    call_vector calls = contexts_calls(arena, contexts, CALLER_OF_SITE);
    struct side side = {ARENA_ARRAY(arena, struct side_row, calls.count), 0, contexts->executed};
    for (size_t i = 0; i < calls.count; i++) {
        const struct call *call = &calls.data[i];
        const struct called_function *caller = vector_at(&places->functions, call->caller);
        const struct called_function *callee = vector_at(&places->functions, call->callee);
        const struct call_site *site = vector_at(&places->sites, call->site);
        const char *file = file_name(contexts, site->file);
        if (!call->calls && !call->inclusive)
            continue;
        side.rows[side.count++] = (struct side_row){
            .name = call->caller ? caller->name : "",
            .demangled = caller->demangled,
            .callee = call->callee ? callee->name : "",
            .callee_demangled = callee->demangled,
            .file = file,
            .line = site->line,
            .place = last_part(file),
            .offset = site->line ? (int64_t)site->line - caller->line : 0,
            .address = site->address,
            .instructions = call->inclusive,
            .calls = call->calls,
        };
    }
    return side;
}

struct comparison compare_calls(struct arena *arena, const struct contexts *before,
                                const struct contexts *after) {
    struct side sides[SIDES] = {call_side(arena, before), call_side(arena, after)};
    return match_sides(arena, sides, MATCH_AS_MANY);
}
