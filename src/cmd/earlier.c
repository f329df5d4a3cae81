/* earlier.c: placement of counters by an earlier run; see earlier.h.
 *
 * As in Ball and Larus 1994, a profile gives the edge weights, so that the tree contains the edges
 * that ran most often. A function is identified by its name and the number of its instructions. Its
 * code is identified by offsets in the compiler's output. If the code has changed, the frequencies
 * are wrong. This costs time, but counts are still exact. */
#include "cmd/earlier.h"

#include "data/profile.h"

#include <stdlib.h>
#include <string.h>

struct lookup {
    const struct profile *profile;
    const struct function **by_name; /* sorted */
    size_t count;
    const struct function *present;
};

static int compare_names(const void *left, const void *right) {
    const struct function *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

static size_t count_code(const struct function *function) {
    size_t count = 0;
    for (size_t i = 0; i < function->instruction_count; i++)
        count += function->instructions[i].address != 0;
    return count;
}

static bool find_function(void *context, const char *name, uint32_t instructions) {
    struct lookup *lookup = context;
    size_t low = 0, high = lookup->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(lookup->by_name[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < lookup->count && strcmp(lookup->by_name[low]->name, name) == 0; low++)
        if (count_code(lookup->by_name[low]) == instructions) {
            lookup->present = lookup->by_name[low];
            return true;
        }
    return false;
}

static int compare_place(const struct instruction *instruction, struct code_place place) {
    if (instruction->fragment != place.fragment)
        return instruction->fragment < place.fragment ? -1 : 1;
    return instruction->offset < place.offset ? -1 : instruction->offset > place.offset;
}

/* Instructions are sorted by fragment and offset. */
static const struct instruction *find_instruction(const struct lookup *lookup,
                                                  struct code_place place) {
    const struct function *function = lookup->present;
    size_t low = 0, high = function->instruction_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_place(&function->instructions[middle], place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == function->instruction_count ||
        compare_place(&function->instructions[low], place) != 0)
        return NULL;
    return &function->instructions[low];
}

static double count_instruction(void *context, struct code_place place) {
    const struct instruction *instruction = find_instruction(context, place);
    return instruction ? (double)instruction->count : 0;
}

static double count_edge(void *context, struct code_place from, struct code_place to) {
    const struct lookup *lookup = context;
    const struct instruction *source = find_instruction(lookup, from);
    const struct instruction *target = find_instruction(lookup, to);
    if (!source || !target)
        return 0;
    for (size_t i = 0; i < lookup->present->edge_count; i++) {
        const struct flow_edge *edge = &lookup->present->edges[i];
        if (edge->source == source->block + 1 && edge->target == target->block + 1)
            return (double)edge->count;
    }
    return 0;
}

bool open_earlier_counts(struct earlier_counts *counts, const char *path) {
    static struct lookup lookup; /* lives as long as the program */
    char *paths[] = {(char *)path};
    struct profile *profile = profile_open(paths, 1);
    profile_count(profile, (struct selection){0});
    lookup.profile = profile;
    size_t total = 0;
    for (size_t m = 0; m < profile->modules.count; m++)
        total += profile->modules.data[m]->functions.count;
    lookup.by_name = ARENA_ARRAY(&profile->arena, const struct function *, total);
    for (size_t m = 0; m < profile->modules.count; m++)
        for (size_t i = 0; i < profile->modules.data[m]->functions.count; i++)
            lookup.by_name[lookup.count++] = &profile->modules.data[m]->functions.data[i];
    if (total)
        qsort(lookup.by_name, total, sizeof *lookup.by_name, compare_names);
    *counts = (struct earlier_counts){&lookup, find_function, count_instruction, count_edge};
    return total != 0;
}
