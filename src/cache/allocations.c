/* allocations.c: which call has allocated a block of the heap; see objects.h.
 *
 * It is the call of the allocating function, or a call around it: calls in system headers, such as
 * those of C++'s allocators, and in functions that the user names, allocate for their callers. The
 * calls around are those that were inlined, and those of the frames. If all of them pass, it is the
 * innermost one. */
#include "cache/objects.h"

#include "symbols/demangle.h"
#include "symbols/inline_calls.h"

#include <fnmatch.h>
#include <string.h>

/* Whether NAME matches one of the patterns in LIST, which commas separate. */
static bool is_listed(struct arena *arena, const char *list, const char *name) {
    while (list && *list) {
        size_t length = strcspn(list, ",");
        if (length && fnmatch(arena_copy(arena, list, length), name, 0) == 0)
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

static bool is_system_file(const char *file) {
    static const char *const directories[] = {"/usr/include/", "/usr/lib/", "/usr/local/include/"};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (strncmp(file, directories[i], strlen(directories[i])) == 0)
            return true;
    return false;
}

/* Returns what is known of the call of SITE. */
static struct allocation_site describe_site(struct object_numbers *numbers,
                                            const struct reference_source *source,
                                            const struct trace_gap *site) {
    const struct traced_function *function = site->function;
    struct code_place places[CODE_PLACES_MAX];
    struct arena *arena = &numbers->arena;
    size_t count = find_code_places(arena, function->module->binary, site->call->address, places);
    struct allocation_site result = {.passes = true};
    const char *symbol = plain_name(arena, function->name);
    size_t chosen = 0;
    for (size_t i = 0; i < count && result.passes; i++) {
        const char *name = places[i].function ? places[i].function : symbol;
        chosen = i;
        result.passes =
            is_system_file(places[i].file) || is_listed(arena, source->allocators, name);
    }
    if (!count)
        result.passes = is_listed(arena, source->allocators, symbol);
    chosen = result.passes ? 0 : chosen;
    result.place =
        (struct reference_place){.function = function->name, .module = function->module->path};
    if (!count)
        return result;
    result.place.file = places[chosen].file;
    result.place.line = places[chosen].line;
    if (places[chosen].function)
        result.place.function = places[chosen].function;
    return result;
}

/* Returns the index of the call of SITE. */
static uint32_t number_site(struct object_numbers *numbers, const struct reference_source *source,
                            const struct trace_gap *site) {
    uint32_t *value = number_table_at(&numbers->site_numbers, (uintptr_t)site->call);
    if (!*value) {
        *value = (uint32_t)numbers->sites.count + 1;
        vector_push(&numbers->arena, &numbers->sites, describe_site(numbers, source, site));
    }
    return *value - 1;
}

/* Returns the call that has allocated. */
static struct allocation_site *find_site(struct object_numbers *numbers,
                                         const struct reference_source *source,
                                         const struct trace_walk *walk,
                                         const struct trace_gap *gap) {
    uint32_t first = number_site(numbers, source, gap), number = first;
    struct trace_gap site;
    for (size_t depth = 0; numbers->sites.data[number].passes; depth++) {
        if (!trace_call_site(walk, depth, &site))
            return vector_at(&numbers->sites, first);
        if (site.call != gap->call)
            number = number_site(numbers, source, &site);
    }
    return vector_at(&numbers->sites, number);
}

/* Returns the number of PLACE, of which there is one for each kind, line and function. */
static uint32_t number_place_of(struct object_numbers *numbers, struct reference_source *source,
                                struct reference_place place) {
    uint32_t next = (uint32_t)source->places.count;
    const char *key =
        arena_print(&numbers->arena, "%d:%s:%u:%s:%s", place.object, place.file ? place.file : "",
                    place.line, place.function, place.module);
    uint32_t number = *map_add(&numbers->arena, &numbers->allocations, key, strlen(key), next);
    if (number == next)
        vector_push(&source->arena, &source->places, place);
    return number;
}

uint32_t number_allocation(struct object_numbers *numbers, struct reference_source *source,
                           const struct trace_walk *walk, const struct trace_step *step,
                           bool maps) {
    struct allocation_site *site = find_site(numbers, source, walk, &step->gap);
    if (!site->numbers[maps]) {
        struct reference_place place = site->place;
        place.object = maps ? OBJECT_MAPPING : OBJECT_HEAP;
        site->numbers[maps] = 1 + number_place_of(numbers, source, place);
    }
    return site->numbers[maps] - 1;
}
