/* places.c: functions and call sites by address; see places.h.
 *
 * The function is found in the notes or, for code without notes, in the symbols. f.cold is a
 * fragment of f. Lines are those of the line table.
 *
 * Not perfect: in a stripped binary, the function that contains a site is unknown if it has no
 * notes. If several local functions have the same name, and each has a fragment f.cold, calls in
 * these fragments are reported for the first of the functions. */
#include "data/places.h"

#include "data/lines.h"
#include "symbols/binary.h"
#include "symbols/demangle.h"
#include "util/path.h"
#include "x86/decode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct fragment {
    uint64_t address;
    const struct function *function;
};

struct module_places {
    bool ready;
    struct module_lines *lines;
    VECTOR(struct fragment) fragments; /* sorted by address */
};

/* The key of a function; all its bytes count. */
struct place_key {
    const struct module *module;
    uint64_t address;
};

void places_begin(struct places *places, struct arena *arena, struct profile *profile) {
    memset(places, 0, sizeof *places);
    places->arena = arena;
    places->profile = profile;
    places->modules = ARENA_ARRAY(arena, struct module_places, profile->modules.count);
    vector_push(arena, &places->functions,
                ((struct called_function){.name = "(not instrumented)",
                                          .demangled = "(not instrumented)"}));
    vector_push(arena, &places->sites, ((struct call_site){.module = NULL}));
}

/* ---- modules ---- */

static int compare_fragments(const void *left, const void *right) {
    const struct fragment *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static struct module_places *open_module(struct places *places, struct module *module) {
    size_t number = 0;
    while (*vector_at(&places->profile->modules, number) != module)
        number++;
    struct module_places *found = &places->modules[number];
    if (found->ready)
        return found;
    found->ready = true;
    found->lines = module_lines(places->arena, places->profile, module);
    for (size_t i = 0; i < module->functions.count; i++) {
        const struct function *function = &module->functions.data[i];
        for (uint32_t j = 0; j < function->fragment_count; j++)
            vector_push(places->arena, &found->fragments,
                        ((struct fragment){function->fragments[j], function}));
    }
    if (found->fragments.count)
        qsort(found->fragments.data, found->fragments.count, sizeof *found->fragments.data,
              compare_fragments);
    return found;
}

/* ---- functions ---- */

/* Returns the last fragment at or below ADDRESS, or NULL. */
static const struct fragment *find_fragment(const struct module_places *places, uint64_t address) {
    size_t low = 0, high = places->fragments.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vector_at(&places->fragments, middle)->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? vector_at(&places->fragments, low - 1) : NULL;
}

static void set_lines(struct called_function *function, const struct module_places *places) {
    if (function->noted) {
        function->file = function->noted->file;
        function->line = function->noted->line;
    } else {
        lines_find(places->lines, function->address, &function->file, &function->line);
    }
}

uint32_t places_find(const struct places *places, const struct module *module, uint64_t address) {
    struct place_key key = {module, address};
    const uint32_t *number = map_find(&places->function_numbers, (const char *)&key, sizeof key);
    return number ? *number : 0;
}

/* Returns the number of the function that starts at PLACE. NOTED is its notes, or NULL. */
static uint32_t number_function(struct places *places, struct place place,
                                const struct function *noted) {
    uint32_t known = places_find(places, place.module, place.address);
    if (known)
        return known;
    struct place_key key = {place.module, place.address};
    uint32_t fresh = (uint32_t)places->functions.count;
    map_add_copy(places->arena, &places->function_numbers, &key, sizeof key, fresh);
    const char *name = noted ? noted->name : binary_symbol(place.module->binary, place.address);
    struct called_function function = {
        .module = place.module, .address = place.address, .noted = noted};
    function.name = name ? name
                         : arena_print(&places->profile->arena, "%s+0x%" PRIx64,
                                       last_part(place.module->path), place.address);
    function.demangled = demangle(&places->profile->arena, function.name);
    set_lines(&function, open_module(places, place.module));
    vector_push(places->arena, &places->functions, function);
    return fresh;
}

static uint32_t find_function(struct places *places, struct place place) {
    const struct fragment *fragment =
        find_fragment(open_module(places, place.module), place.address);
    bool noted = fragment && fragment->function->address == place.address;
    return number_function(places, place, noted ? fragment->function : NULL);
}

/* ---- sites ---- */

/* Returns the entry of the function of which NAME, "f.cold", is a fragment; 0: it is none. */
static uint64_t find_whole(const struct binary *binary, const char *name) {
    const char *cold = strstr(name, ".cold");
    if (!cold)
        return 0;
    size_t length = (size_t)(cold - name);
    for (size_t i = 0; i < binary->names.count; i++) {
        const struct symbol *symbol = &binary->names.data[i];
        if (strlen(symbol->name) == length && memcmp(symbol->name, name, length) == 0)
            return symbol->address;
    }
    return 0;
}

/* Returns the number of the function that contains the code at PLACE, or 0 if unknown. */
static uint32_t enclosing_function(struct places *places, struct place place) {
    const struct symbol *symbol = binary_function(place.module->binary, place.address);
    const struct fragment *fragment =
        find_fragment(open_module(places, place.module), place.address);
    if (fragment && (!symbol || fragment->address >= symbol->address)) {
        place.address = fragment->function->address;
        return number_function(places, place, fragment->function);
    }
    if (!symbol)
        return 0;
    uint64_t whole = find_whole(place.module->binary, symbol->name);
    place.address = whole ? whole : symbol->address;
    return number_function(places, place, NULL);
}

/* Returns the address of the call that ends at SITE in FUNCTION. */
static uint64_t find_call(const struct call_site *site, const struct called_function *function) {
    size_t count = function->noted ? function->noted->instruction_count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct instruction *instruction = &function->noted->instructions[i];
        if (instruction->address && instruction->address + instruction->size == site->address)
            return instruction->address;
    }
    size_t left;
    uint64_t call = site->address - DIRECT_CALL_SIZE;
    const uint8_t *code = binary_code(site->module->binary, call, &left);
    return code && is_direct_call(code, left) ? call : site->address - 1;
}

static uint32_t add_site(struct places *places, struct place place) {
    struct call_site site = {.module = place.module, .address = place.address};
    place.address--; /* in the call */
    site.function = enclosing_function(places, place);
    site.call = find_call(&site, vector_at(&places->functions, site.function));
    lines_find(open_module(places, place.module)->lines, place.address, &site.file, &site.line);
    vector_push(places->arena, &places->sites, site);
    return (uint32_t)places->sites.count - 1;
}

uint32_t places_number(struct places *places, struct place place) {
    if (!place.module)
        return 0;
    return place.is_site ? add_site(places, place) : find_function(places, place);
}
