/* line_counts.c: counts by source line; line_counts.h defines them. */
#include "report/line_counts.h"

#include "format/notes.h"
#include "report/function_parts.h"

#include <stdlib.h>

/* ---- branches ---- */

/* The edges of each node, and the number of edges that lead to it. */
struct edge_index {
    size_t *first; /* edges of node n: from first[n] to before first[n + 1] */
    size_t *entering;
};

static struct edge_index index_edges(struct arena *arena, const struct function *function) {
    size_t nodes = 1 + function->block_count + function->hub_count;
    struct edge_index index = {
        .first = ARENA_ARRAY(arena, size_t, nodes + 1),
        .entering = ARENA_ARRAY(arena, size_t, nodes),
    };
    for (size_t i = 0; i < function->edge_count; i++) {
        index.first[function->edges[i].source + 1]++;
        index.entering[function->edges[i].target]++;
    }
    for (size_t i = 1; i <= nodes; i++)
        index.first[i] += index.first[i - 1];
    return index;
}

static uint64_t positive(int64_t count) {
    return count > 0 ? (uint64_t)count : 0;
}

static void add_target(struct line_branch *branch, const struct flow_edge *edge) {
    branch->targets[branch->target_count++] =
        (struct branch_target){.edge = edge, .count = positive(edge->count)};
}

/* Adds the targets of a conditional jump. Its block has one edge that is not taken and one that is
 * taken. The latter may lead to another function. */
static void add_conditional(struct line_branch *branch, const struct flow_edge *out,
                            size_t out_count) {
    const struct flow_edge *taken = NULL, *not_taken = NULL;
    for (size_t i = 0; i < out_count; i++) {
        if (out[i].kind == QUIPU_EDGE_NOT_TAKEN)
            not_taken = &out[i];
        else if (out[i].kind == QUIPU_EDGE_TAKEN || out[i].kind == QUIPU_EDGE_TAIL)
            taken = &out[i];
    }
    if (taken && not_taken) {
        add_target(branch, taken);
        add_target(branch, not_taken);
    }
}

/* Returns the branch that ends BLOCK. It has no targets if there is none. It has none, either, if
 * its hub is also that of other jumps, because it is not known which jump had which target. */
static struct line_branch find_branch(struct arena *arena, const struct function *function,
                                      const struct edge_index *index, size_t block) {
    const struct block *from = &function->blocks[block];
    struct line_branch branch = {.function = function, .executed = positive(from->count)};
    size_t node = block + 1;
    const struct flow_edge *out = function->edges + index->first[node];
    size_t out_count = index->first[node + 1] - index->first[node];
    if (from->padding || from->instruction_count == 0 || out_count == 0)
        return branch;
    branch.instruction = from->first_instruction + from->instruction_count - 1;
    if (out_count == 1 && out[0].target > function->block_count &&
        index->entering[out[0].target] == 1) {
        node = out[0].target;
        out = function->edges + index->first[node];
        out_count = index->first[node + 1] - index->first[node];
    }
    if (out_count < 2)
        return branch;
    branch.targets = ARENA_ARRAY(arena, struct branch_target, out_count);
    add_conditional(&branch, out, out_count);
    for (size_t i = 0; branch.target_count < out_count && i < out_count; i++)
        if (out[i].kind == QUIPU_EDGE_INDIRECT)
            add_target(&branch, &out[i]);
    return branch;
}

struct function_branches find_branches(struct arena *arena, const struct function *function) {
    struct edge_index index = index_edges(arena, function);
    struct function_branches branches = {
        .data = ARENA_ARRAY(arena, struct line_branch, function->block_count)};
    for (size_t i = 0; i < function->block_count; i++) {
        struct line_branch branch = find_branch(arena, function, &index, i);
        if (branch.target_count)
            branches.data[branches.count++] = branch;
    }
    return branches;
}

/* ---- lines ---- */

/* The counts of one function for one line. */
struct row {
    uint32_t file;
    uint32_t whole;  /* number of the function, or of the one that it is a part of */
    uint32_t number; /* of the function */
    uint64_t own;    /* of the executions, those of code that was not inlined */
    struct line_count count;
};

typedef VECTOR(struct row) row_vector;

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_rows(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    int order = compare_numbers(a->file, b->file);
    if (!order)
        order = compare_numbers(a->count.line, b->count.line);
    if (!order)
        order = compare_numbers(a->whole, b->whole);
    return order ? order : compare_numbers(a->number, b->number);
}

/* Compares pointers to instructions: by line, then by copy. */
static int compare_places(const void *left, const void *right) {
    const struct instruction *a = *(const struct instruction *const *)left;
    const struct instruction *b = *(const struct instruction *const *)right;
    int order = compare_numbers(a->file, b->file);
    if (!order)
        order = compare_numbers(a->line, b->line);
    return order ? order : compare_numbers(a->copy, b->copy);
}

static bool same_line(const struct instruction *a, const struct instruction *b) {
    return a->file == b->file && a->line == b->line;
}

/* Returns the row of the instructions from BEGIN to before END. They are all of one line, sorted by
 * copy. */
static struct row fold_line(const struct instruction *const *begin,
                            const struct instruction *const *end) {
    struct row row = {.file = (*begin)->file, .count.line = (*begin)->line};
    uint64_t highest = 0; /* of the current copy */
    for (const struct instruction *const *place = begin; place < end; place++) {
        uint64_t count = (*place)->count;
        if (place > begin && (*place)->copy != place[-1]->copy) {
            row.count.executions += highest;
            highest = 0;
        }
        highest = count > highest ? count : highest;
        row.own = (*place)->copy ? row.own : highest;
        row.count.static_instructions++;
        row.count.never_executed += count == 0;
        row.count.instructions += count;
    }
    row.count.executions += highest;
    return row;
}

static void add_branches(struct arena *arena, struct line_count *to,
                         const struct line_branch *branches, size_t count) {
    to->branches = arena_grow(arena, to->branches, to->branch_count, to->branch_count + count,
                              sizeof *to->branches);
    for (size_t i = 0; i < count; i++)
        to->branches[to->branch_count++] = branches[i];
}

/* Adds the branches of FUNCTION to ROWS, which are the function's. */
static void attach_branches(struct arena *arena, const struct function *function, struct row *rows,
                            size_t row_count, struct row key) {
    struct function_branches branches = find_branches(arena, function);
    for (size_t i = 0; i < branches.count && row_count; i++) {
        const struct instruction *jump = &function->instructions[branches.data[i].instruction];
        key.file = jump->file;
        key.count.line = jump->line;
        struct row *row = bsearch(&key, rows, row_count, sizeof key, compare_rows);
        if (row)
            add_branches(arena, &row->count, &branches.data[i], 1);
    }
}

/* Adds the line at which FUNCTION begins, if it is not in the function's rows, which are those from
 * FIRST on. */
static void add_head(struct arena *arena, const struct function *function, row_vector *rows,
                     size_t first, struct row head) {
    head.file = function->file;
    head.own = function->calls;
    head.count = (struct line_count){.line = function->line, .executions = function->calls};
    size_t count = rows->count - first;
    if (head.file && head.count.line && count &&
        !bsearch(&head, rows->data + first, count, sizeof head, compare_rows))
        vector_push(arena, rows, head);
}

/* Adds the lines of FUNCTION in increasing order; HEADS: also the line at which it begins. It is a
 * part of function number WHOLE, or that is its own NUMBER. */
static void add_function(struct arena *arena, const struct function *function, row_vector *rows,
                         uint32_t whole, uint32_t number, bool heads) {
    struct arena scratch = {0};
    const struct instruction **places =
        ARENA_ARRAY(&scratch, const struct instruction *, function->instruction_count);
    size_t count = 0, first = rows->count;
    for (size_t i = 0; i < function->instruction_count; i++)
        if (function->instructions[i].file && function->instructions[i].line)
            places[count++] = &function->instructions[i];
    qsort(places, count, sizeof *places, compare_places);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && same_line(places[begin], places[end]); end++)
            continue;
        struct row row = fold_line(places + begin, places + end);
        row.whole = whole;
        row.number = number;
        vector_push(arena, rows, row);
    }
    arena_release(&scratch);
    struct row key = {.whole = whole, .number = number};
    attach_branches(arena, function, rows->data + first, rows->count - first, key);
    if (heads && whole == number)
        add_head(arena, function, rows, first, key);
}

static void add_line_count(struct arena *arena, struct line_count *to,
                           const struct line_count *from) {
    to->executions += from->executions;
    to->instructions += from->instructions;
    to->static_instructions += from->static_instructions;
    to->never_executed += from->never_executed;
    if (from->branch_count)
        add_branches(arena, to, from->branches, from->branch_count);
}

/* Returns the executions that ROW adds to those of its line. ROW may be of a part of the function
 * of the rows in front of it. A function and its parts have one copy of the line. OWN is the count
 * of that copy so far, and is changed. */
static uint64_t more_executions(const struct row *row, uint64_t *own) {
    uint64_t inlined = row->count.executions - row->own;
    uint64_t more = row->own > *own ? row->own - *own : 0;
    *own += more;
    return inlined + more;
}

/* Sorts ROWS, and adds up the rows of each line. */
static struct line_counts *fold_rows(struct arena *arena, row_vector *rows) {
    struct line_counts *counts = ARENA_NEW(arena, struct line_counts);
    struct line_count *lines = ARENA_ARRAY(arena, struct line_count, rows->count);
    VECTOR(struct file_lines) files = {0};
    uint64_t own = 0;
    size_t used = 0;
    if (rows->count)
        qsort(rows->data, rows->count, sizeof *rows->data, compare_rows);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->data[i];
        if (i == 0 || row->file != row[-1].file)
            vector_push(arena, &files, ((struct file_lines){row->file, lines + used, 0}));
        struct file_lines *file = &files.data[files.count - 1];
        if (file->line_count && lines[used - 1].line == row->count.line) {
            own = row->whole == row[-1].whole ? own : 0;
            struct line_count count = row->count;
            count.executions = more_executions(row, &own);
            add_line_count(arena, &lines[used - 1], &count);
        } else {
            own = row->own;
            lines[used++] = row->count;
            file->line_count++;
        }
    }
    counts->files = files.data;
    counts->file_count = files.count;
    return counts;
}

static struct line_counts *count_all_lines(struct arena *arena, const struct profile *profile,
                                           bool heads) {
    row_vector rows = {0};
    uint32_t first = 0; /* number of the module's first function */
    for (size_t m = 0; m < profile->modules.count; m++) {
        const struct module *module = profile->modules.data[m];
        const struct function *functions = module->functions.data;
        for (uint32_t f = 0; f < module->functions.count; f++) {
            uint32_t whole = (uint32_t)(whole_function(&functions[f]) - functions);
            add_function(arena, &functions[f], &rows, first + whole, first + f, heads);
        }
        first += (uint32_t)module->functions.count;
    }
    return fold_rows(arena, &rows);
}

struct line_counts *count_lines(struct arena *arena, const struct profile *profile) {
    return count_all_lines(arena, profile, false);
}

struct line_counts *count_covered_lines(struct arena *arena, const struct profile *profile) {
    return count_all_lines(arena, profile, true);
}

struct line_counts *count_function_lines(struct arena *arena,
                                         const struct function *const *functions, size_t count) {
    row_vector rows = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct function *whole = whole_function(functions[i]);
        uint32_t number = whole == functions[i] ? i : 0;
        while (number < count && functions[number] != whole)
            number++;
        add_function(arena, functions[i], &rows, number < count ? number : i, i, true);
    }
    return fold_rows(arena, &rows);
}

/* ---- looking up ---- */

static int compare_file(const void *key, const void *item) {
    return compare_numbers(*(const uint32_t *)key, ((const struct file_lines *)item)->file);
}

static int compare_line(const void *key, const void *item) {
    return compare_numbers(*(const uint32_t *)key, ((const struct line_count *)item)->line);
}

const struct file_lines *find_file_lines(const struct line_counts *counts, uint32_t file) {
    return counts->file_count ? bsearch(&file, counts->files, counts->file_count,
                                        sizeof *counts->files, compare_file)
                              : NULL;
}

const struct line_count *find_line_count(const struct file_lines *lines, uint32_t line) {
    return bsearch(&line, lines->lines, lines->line_count, sizeof *lines->lines, compare_line);
}

/* ---- coverage ---- */

struct coverage line_coverage(const struct line_count *line) {
    struct coverage coverage = {.lines = 1, .lines_hit = line->executions > 0};
    for (size_t b = 0; b < line->branch_count; b++) {
        const struct line_branch *branch = &line->branches[b];
        coverage.branches += branch->target_count;
        for (size_t t = 0; t < branch->target_count; t++)
            coverage.branches_hit += branch->targets[t].count > 0;
    }
    return coverage;
}

void add_coverage(struct coverage *to, struct coverage from) {
    to->lines += from.lines;
    to->lines_hit += from.lines_hit;
    to->branches += from.branches;
    to->branches_hit += from.branches_hit;
}

struct coverage file_coverage(const struct file_lines *lines) {
    struct coverage coverage = {0};
    for (size_t i = 0; lines && i < lines->line_count; i++)
        add_coverage(&coverage, line_coverage(&lines->lines[i]));
    return coverage;
}

uint64_t file_instructions(const struct file_lines *lines) {
    uint64_t sum = 0;
    for (size_t i = 0; lines && i < lines->line_count; i++)
        sum += lines->lines[i].instructions;
    return sum;
}
