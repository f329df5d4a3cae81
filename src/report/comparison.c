/* comparison.c: two profiles side by side; see comparison.h. */
#include "report/comparison.h"

#include "report/source_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A function of one side, with its file's name. */
struct side_function {
    const struct source_function *function;
    const char *file;
    bool matched;
};

struct side {
    struct side_function *functions; /* by name, then file */
    size_t count;
};

int64_t count_delta(const uint64_t counts[SIDES]) {
    return (int64_t)(counts[AFTER] - counts[BEFORE]);
}

double delta_percent(const uint64_t counts[SIDES]) {
    int64_t delta = count_delta(counts);
    if (delta == 0)
        return 0;
    return counts[BEFORE] ? 100.0 * (double)delta / (double)counts[BEFORE] : INFINITY;
}

static bool is_unchanged(const struct compared_function *function) {
    return function->present[BEFORE] == function->present[AFTER] &&
           count_delta(function->instructions) == 0 && count_delta(function->calls) == 0;
}

const char *comparison_status(const struct compared_function *function) {
    if (!function->present[BEFORE])
        return "new";
    if (!function->present[AFTER])
        return "removed";
    return is_unchanged(function) ? "unchanged" : "changed";
}

/* ---- the order of the result ---- */

static uint64_t distance(const uint64_t counts[SIDES]) {
    return counts[AFTER] > counts[BEFORE] ? counts[AFTER] - counts[BEFORE]
                                          : counts[BEFORE] - counts[AFTER];
}

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_results(const void *left, const void *right) {
    const struct compared_function *a = left, *b = right;
    int order = compare_numbers(is_unchanged(a), is_unchanged(b));
    if (!order)
        order = compare_numbers(distance(b->instructions), distance(a->instructions));
    if (!order)
        order = compare_numbers(distance(b->calls), distance(a->calls));
    if (!order)
        order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->file, b->file);
}

/* ---- matching ---- */

static int compare_sides(const void *left, const void *right) {
    const struct side_function *a = left, *b = right;
    int order = strcmp(a->function->name, b->function->name);
    return order ? order : strcmp(a->file, b->file);
}

static struct side build_side(struct arena *arena, const struct profile *profile) {
    struct source_functions functions = find_source_functions(arena, profile);
    struct side side = {ARENA_ARRAY(arena, struct side_function, functions.count), functions.count};
    for (size_t i = 0; i < functions.count; i++) {
        const struct source_function *function = &functions.data[i];
        const char *file = function->file ? profile->files.data[function->file] : "";
        side.functions[i] = (struct side_function){function, file, false};
    }
    qsort(side.functions, side.count, sizeof *side.functions, compare_sides);
    return side;
}

static uint64_t executed_in(const struct source_function *function) {
    uint64_t executed = 0;
    for (size_t i = 0; i < function->copy_count; i++)
        executed += function->copies[i]->executed;
    return executed;
}

/* Adds one function to the result; one of the sides may be NULL. */
static void add_result(struct comparison *comparison, struct side_function *before,
                       struct side_function *after) {
    struct side_function *sides[SIDES] = {before, after};
    const struct side_function *shown = after ? after : before;
    struct compared_function *result = &comparison->functions[comparison->count++];
    *result = (struct compared_function){
        .name = shown->function->name,
        .demangled = shown->function->demangled,
        .file = shown->file,
        .line = shown->function->line,
    };
    for (int i = 0; i < SIDES; i++) {
        if (!sides[i])
            continue;
        sides[i]->matched = true;
        result->present[i] = true;
        result->instructions[i] = executed_in(sides[i]->function);
        result->calls[i] = sides[i]->function->calls;
        comparison->instructions[i] += result->instructions[i];
        comparison->calls[i] += result->calls[i];
    }
    comparison->unchanged += is_unchanged(result);
}

/* The part of SIDE from *NEXT on whose functions are called NAME; moves *NEXT behind it. */
static struct side take_name(const struct side *side, size_t *next, const char *name) {
    struct side part = {side->functions + *next, 0};
    while (*next < side->count && strcmp(side->functions[*next].function->name, name) == 0) {
        part.count++;
        ++*next;
    }
    return part;
}

/* The only function of SIDE that is not matched yet; NULL where there is none or more. */
static struct side_function *only_one_left(const struct side *side) {
    struct side_function *left = NULL;
    for (size_t i = 0; i < side->count; i++) {
        if (side->functions[i].matched)
            continue;
        if (left)
            return NULL;
        left = &side->functions[i];
    }
    return left;
}

/* Functions of one name. */
static void match_name(struct comparison *comparison, struct side before, struct side after) {
    for (size_t b = 0, a = 0; b < before.count && a < after.count;) {
        int order = strcmp(before.functions[b].file, after.functions[a].file);
        if (order == 0)
            add_result(comparison, &before.functions[b], &after.functions[a]);
        b += order <= 0;
        a += order >= 0;
    }
    struct side_function *last_before = only_one_left(&before), *last_after = only_one_left(&after);
    if (last_before && last_after)
        add_result(comparison, last_before, last_after);
    for (size_t i = 0; i < before.count; i++)
        if (!before.functions[i].matched)
            add_result(comparison, &before.functions[i], NULL);
    for (size_t i = 0; i < after.count; i++)
        if (!after.functions[i].matched)
            add_result(comparison, NULL, &after.functions[i]);
}

/* The lowest of the names at which the SIDES stand; one of them must have one left. */
static const char *first_name(const struct side sides[SIDES], const size_t next[SIDES]) {
    const char *names[SIDES];
    for (int i = 0; i < SIDES; i++)
        names[i] = next[i] < sides[i].count ? sides[i].functions[next[i]].function->name : NULL;
    if (!names[BEFORE] || !names[AFTER])
        return names[BEFORE] ? names[BEFORE] : names[AFTER];
    return strcmp(names[BEFORE], names[AFTER]) < 0 ? names[BEFORE] : names[AFTER];
}

struct comparison compare_profiles(struct arena *arena, const struct profile *before,
                                   const struct profile *after) {
    struct side sides[SIDES] = {build_side(arena, before), build_side(arena, after)};
    struct comparison comparison = {
        .functions =
            ARENA_ARRAY(arena, struct compared_function, sides[BEFORE].count + sides[AFTER].count)};
    size_t next[SIDES] = {0};
    while (next[BEFORE] < sides[BEFORE].count || next[AFTER] < sides[AFTER].count) {
        const char *name = first_name(sides, next);
        struct side same_before = take_name(&sides[BEFORE], &next[BEFORE], name);
        match_name(&comparison, same_before, take_name(&sides[AFTER], &next[AFTER], name));
    }
    qsort(comparison.functions, comparison.count, sizeof *comparison.functions, compare_results);
    return comparison;
}
