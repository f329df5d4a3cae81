/* comparison.c: matches the rows of two sides, and sorts the result; see comparison.h.
 *
 * Rows of the same name and callee are a group. In each group, rows whose `place` and `offset`
 * agree are matched first. The rest is matched as far as the rule for it allows. */
#include "report/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t count_delta(const uint64_t counts[SIDES]) {
    return (int64_t)(counts[AFTER] - counts[BEFORE]);
}

double delta_percent(const uint64_t counts[SIDES]) {
    int64_t delta = count_delta(counts);
    if (delta == 0)
        return 0;
    return counts[BEFORE] ? 100.0 * (double)delta / (double)counts[BEFORE] : INFINITY;
}

static bool is_unchanged(const struct compared_row *row) {
    return row->present[BEFORE] == row->present[AFTER] && count_delta(row->instructions) == 0 &&
           count_delta(row->calls) == 0;
}

const char *comparison_status(const struct compared_row *row) {
    if (!row->present[BEFORE])
        return "new";
    if (!row->present[AFTER])
        return "removed";
    return is_unchanged(row) ? "unchanged" : "changed";
}

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* ---- the order of the result ---- */

static uint64_t distance(const uint64_t counts[SIDES]) {
    return counts[AFTER] > counts[BEFORE] ? counts[AFTER] - counts[BEFORE]
                                          : counts[BEFORE] - counts[AFTER];
}

static int compare_results(const void *left, const void *right) {
    const struct compared_row *a = left, *b = right;
    int order = compare_numbers(is_unchanged(a), is_unchanged(b));
    if (!order)
        order = compare_numbers(distance(b->instructions), distance(a->instructions));
    if (!order)
        order = compare_numbers(distance(b->calls), distance(a->calls));
    if (!order)
        order = strcmp(a->name, b->name);
    if (!order)
        order = strcmp(a->callee, b->callee);
    if (!order)
        order = strcmp(a->file, b->file);
    return order ? order : compare_numbers(a->line, b->line);
}

/* ---- matching ---- */

static int compare_names(const struct side_row *a, const struct side_row *b) {
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->callee, b->callee);
}

static int compare_places(const struct side_row *a, const struct side_row *b) {
    int order = strcmp(a->place, b->place);
    return order ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare_side_rows(const void *left, const void *right) {
    const struct side_row *a = left, *b = right;
    int order = compare_names(a, b);
    if (!order)
        order = compare_places(a, b);
    if (!order)
        order = strcmp(a->file, b->file);
    return order ? order : compare_numbers(a->address, b->address);
}

/* Adds one row to the result. One of BEFORE and AFTER may be NULL. */
static void add_result(struct comparison *comparison, struct side_row *before,
                       struct side_row *after) {
    struct side_row *sides[SIDES] = {before, after};
    const struct side_row *shown = after ? after : before;
    struct compared_row *result = &comparison->rows[comparison->count++];
    *result = (struct compared_row){
        .name = shown->name,
        .demangled = shown->demangled,
        .callee = shown->callee,
        .callee_demangled = shown->callee_demangled,
        .file = shown->file,
        .line = shown->line,
    };
    for (int i = 0; i < SIDES; i++) {
        if (!sides[i])
            continue;
        sides[i]->matched = true;
        result->present[i] = true;
        result->instructions[i] = sides[i]->instructions;
        result->calls[i] = sides[i]->calls;
        comparison->calls[i] += result->calls[i];
    }
    comparison->unchanged += is_unchanged(result);
}

/* Returns the rows of SIDE from *NEXT on that have FIRST's names. Moves *NEXT behind them. */
static struct side take_group(const struct side *side, size_t *next, const struct side_row *first) {
    struct side group = {.rows = side->rows + *next};
    while (*next < side->count && compare_names(&side->rows[*next], first) == 0) {
        group.count++;
        ++*next;
    }
    return group;
}

static size_t count_left(const struct side *side) {
    size_t left = 0;
    for (size_t i = 0; i < side->count; i++)
        left += !side->rows[i].matched;
    return left;
}

/* Returns the first row from *NEXT on that is not matched yet, and moves *NEXT behind it. Returns
 * NULL if there is none. */
static struct side_row *next_left(const struct side *side, size_t *next) {
    while (*next < side->count && side->rows[*next].matched)
        ++*next;
    return *next < side->count ? &side->rows[(*next)++] : NULL;
}

/* Adds the rows of a group that are left when `place` and `offset` have been compared. REST is the
 * rule for matching them. */
static void match_rest(struct comparison *comparison, const struct side group[SIDES],
                       enum match_rest rest) {
    size_t left = count_left(&group[BEFORE]), next[SIDES] = {0};
    struct side_row *row;
    if (left == count_left(&group[AFTER]) && (left == 1 || rest == MATCH_AS_MANY))
        while ((row = next_left(&group[BEFORE], &next[BEFORE])))
            add_result(comparison, row, next_left(&group[AFTER], &next[AFTER]));
    while ((row = next_left(&group[BEFORE], &next[BEFORE])))
        add_result(comparison, row, NULL);
    while ((row = next_left(&group[AFTER], &next[AFTER])))
        add_result(comparison, NULL, row);
}

static void match_group(struct comparison *comparison, const struct side group[SIDES],
                        enum match_rest rest) {
    for (size_t b = 0, a = 0; b < group[BEFORE].count && a < group[AFTER].count;) {
        struct side_row *before = &group[BEFORE].rows[b], *after = &group[AFTER].rows[a];
        int order = compare_places(before, after);
        if (order == 0)
            add_result(comparison, before, after);
        b += order <= 0;
        a += order >= 0;
    }
    match_rest(comparison, group, rest);
}

/* Returns the row with the lowest name among the next rows of both SIDES. At least one side must
 * have a next row. */
static const struct side_row *first_row(const struct side sides[SIDES], const size_t next[SIDES]) {
    const struct side_row *rows[SIDES];
    for (int i = 0; i < SIDES; i++)
        rows[i] = next[i] < sides[i].count ? &sides[i].rows[next[i]] : NULL;
    if (!rows[BEFORE] || !rows[AFTER])
        return rows[BEFORE] ? rows[BEFORE] : rows[AFTER];
    return compare_names(rows[BEFORE], rows[AFTER]) < 0 ? rows[BEFORE] : rows[AFTER];
}

struct comparison match_sides(struct arena *arena, struct side sides[SIDES], enum match_rest rest) {
    struct comparison comparison = {
        .rows = ARENA_ARRAY(arena, struct compared_row, sides[BEFORE].count + sides[AFTER].count)};
    for (int i = 0; i < SIDES; i++) {
        comparison.instructions[i] = sides[i].instructions;
        if (sides[i].count)
            qsort(sides[i].rows, sides[i].count, sizeof *sides[i].rows, compare_side_rows);
    }
    size_t next[SIDES] = {0};
    while (next[BEFORE] < sides[BEFORE].count || next[AFTER] < sides[AFTER].count) {
        const struct side_row *first = first_row(sides, next);
        struct side group[SIDES];
        for (int i = 0; i < SIDES; i++)
            group[i] = take_group(&sides[i], &next[i], first);
        match_group(&comparison, group, rest);
    }
    if (comparison.count)
        qsort(comparison.rows, comparison.count, sizeof *comparison.rows, compare_results);
    return comparison;
}
