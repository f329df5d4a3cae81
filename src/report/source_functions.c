/* source_functions.c: the functions of the source; see source_functions.h. */
#include "report/source_functions.h"

#include "report/function_parts.h"

#include <stdlib.h>
#include <string.h>

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Compares names of functions; those of a function and of its parts are equal. */
static int compare_whole_names(const char *a, const char *b) {
    size_t a_length = whole_name_length(a), b_length = whole_name_length(b);
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order ? order : compare_numbers(a_length, b_length);
}

/* Compares pointers to functions. Copies of one function are side by side, the first line first,
 * and its parts behind them. */
static int compare_names(const void *left, const void *right) {
    const struct function *a = *(const struct function *const *)left;
    const struct function *b = *(const struct function *const *)right;
    int order = compare_numbers(a->file, b->file);
    if (!order)
        order = compare_whole_names(a->name, b->name);
    if (!order)
        order = strcmp(a->name, b->name);
    if (!order)
        order = compare_numbers(a->line, b->line);
    if (!order)
        order = strcmp(a->module->path, b->module->path);
    return order ? order : compare_numbers(a->address, b->address);
}

static int compare_lines(const void *left, const void *right) {
    const struct source_function *a = left, *b = right;
    int order = compare_numbers(a->file, b->file);
    if (!order)
        order = compare_numbers(a->line, b->line);
    return order ? order : strcmp(a->name, b->name);
}

static void add_copy(struct source_function *source, const struct function *copy) {
    source->copy_count++;
    if (!is_function_part(copy) || is_function_part(source->copies[0]))
        source->calls += copy->calls;
    for (size_t i = 0; i < copy->block_count; i++) {
        if (copy->blocks[i].padding)
            continue;
        source->blocks++;
        source->blocks_executed += copy->blocks[i].count > 0;
    }
    for (size_t i = 0; i < copy->instruction_count; i++) {
        const struct instruction *instruction = &copy->instructions[i];
        if (instruction->file == source->file && instruction->copy == 0 &&
            instruction->line > source->end_line)
            source->end_line = instruction->line;
    }
}

static const struct function **sorted_functions(struct arena *arena, const struct profile *profile,
                                                size_t *count) {
    *count = 0;
    for (size_t m = 0; m < profile->modules.count; m++)
        *count += profile->modules.data[m]->functions.count;
    const struct function **sorted = ARENA_ARRAY(arena, const struct function *, *count);
    size_t next = 0;
    for (size_t m = 0; m < profile->modules.count; m++)
        for (size_t f = 0; f < profile->modules.data[m]->functions.count; f++)
            sorted[next++] = &profile->modules.data[m]->functions.data[f];
    qsort(sorted, *count, sizeof(const struct function *), compare_names);
    return sorted;
}

struct source_functions find_source_functions(struct arena *arena, const struct profile *profile) {
    size_t count;
    const struct function **sorted = sorted_functions(arena, profile, &count);
    struct source_functions functions = {.data = ARENA_ARRAY(arena, struct source_function, count)};
    struct source_function *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct function *function = sorted[i];
        if (!last || last->file != function->file ||
            compare_whole_names(last->name, function->name) != 0) {
            last = &functions.data[functions.count++];
            *last = (struct source_function){
                .name = function->name,
                .demangled = function->demangled,
                .file = function->file,
                .line = function->line,
                .end_line = function->line,
                .copies = sorted + i,
            };
        }
        add_copy(last, function);
    }
    qsort(functions.data, functions.count, sizeof *functions.data, compare_lines);
    return functions;
}

const struct source_function *functions_of_file(const struct source_functions *functions,
                                                uint32_t file, const struct source_function **end) {
    size_t low = 0, high = functions->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (functions->data[middle].file < file)
            low = middle + 1;
        else
            high = middle;
    }
    const struct source_function *first = functions->data + low;
    while (low < functions->count && functions->data[low].file == file)
        low++;
    *end = functions->data + low;
    return first;
}
