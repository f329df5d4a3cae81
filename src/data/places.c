/* places.c: functions and call sites by address; see places.h.
 *
 * The module is the one whose code contains the address, according to the load bias in the data
 * file. The function is found in the notes or, for code without notes, in the symbols. f.cold is a
 * fragment of f. Lines are those of the line table.
 *
 * Not perfect: in a stripped binary, the function that contains a site is unknown if it has no
 * notes. If several local functions have the same name, and each has a fragment f.cold, calls in
 * these fragments are reported for the first of the functions. */
#include "data/places.h"

#include "data/datafile.h"
#include "data/lines.h"
#include "format/data_file.h"
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

struct place {
    struct module *module; /* NULL: none */
    struct module_places *places;
    uint64_t address; /* as linked */
};

/* The key of the maps; all its bytes count. */
struct place_key {
    const struct module *module;
    uint64_t address;
};

enum {
    CACHE_SETS = 4096 /* a power of two */
};

/* The last number that was requested for each address, by the address's hash. Most addresses of a
 * tree of calls occur in many of its nodes. */
struct place_cache {
    const struct process *process; /* of all entries */
    struct cached_number {
        uint64_t address; /* 0: free */
        uint32_t mark, number;
    } functions[CACHE_SETS], sites[CACHE_SETS];
};

void places_begin(struct places *places, struct arena *arena, struct profile *profile) {
    memset(places, 0, sizeof *places);
    places->arena = arena;
    places->profile = profile;
    places->recent = ARENA_NEW(arena, struct place_cache);
    places->modules = ARENA_ARRAY(arena, struct module_places, profile->modules.count);
    vector_push(arena, &places->functions,
                ((struct called_function){.name = "(not instrumented)",
                                          .demangled = "(not instrumented)"}));
    vector_push(arena, &places->sites, ((struct call_site){.module = NULL}));
}

/* ---- recent addresses ---- */

/* Finds the number of a function or a site by its address, as places_function does. */
typedef uint32_t find_number(struct places *places, const struct process *process, uint32_t mark,
                             uint64_t address);

/* Returns what FIND does, which is called only if SETS do not have it. */
static uint32_t find_recent(struct places *places, const struct process *process, uint32_t mark,
                            uint64_t address, struct cached_number *sets, find_number *find) {
    struct cached_number *cached =
        &sets[(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % CACHE_SETS];
    if (places->recent->process != process)
        memset(places->recent, 0, sizeof *places->recent);
    places->recent->process = process;
    if (!address || cached->address != address || cached->mark != mark)
        *cached = (struct cached_number){address, mark, find(places, process, mark, address)};
    return cached->number;
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

/* Returns the place of ADDRESS in module NUMBER of the running PROCESS, at LOAD_BIAS. */
static struct place place_in(struct places *places, const struct process *process, size_t number,
                             uint64_t load_bias, uint64_t address) {
    struct module *module = process->modules.data[number];
    uint64_t linked = address - load_bias;
    const struct segment *segment = module->binary ? binary_segment(module->binary, linked) : NULL;
    if (segment && segment->executable)
        return (struct place){module, open_module(places, module), linked};
    return (struct place){.module = NULL};
}

/* Returns the place of ADDRESS in the running PROCESS. MARK is that of the load that has it, or 0.
 */
static struct place find_place(struct places *places, const struct process *process, uint32_t mark,
                               uint64_t address) {
    struct place place = {.module = NULL};
    size_t number = QUIPU_LOAD_MARK_MODULE(mark), load = QUIPU_LOAD_MARK_NUMBER(mark);
    if (mark && number < process->modules.count) {
        const struct data_module *module = &process->data->modules.data[number];
        place = place_in(places, process, number,
                         load < module->load_biases.count ? module->load_biases.data[load]
                                                          : module->load_bias,
                         address);
    }
    for (size_t i = 0; i < process->modules.count && !place.module; i++)
        place = place_in(places, process, i, process->load_biases[i], address);
    return place;
}

/* Returns the number of PLACE in NUMBERS, and adds it as FRESH if it is new. */
static uint32_t number_place(struct places *places, struct map *numbers, struct place place,
                             uint32_t fresh) {
    struct place_key key = {place.module, place.address};
    const uint32_t *known = map_find(numbers, (const char *)&key, sizeof key);
    if (known)
        return *known;
    struct place_key *kept = ARENA_NEW(places->arena, struct place_key);
    *kept = key;
    return *map_add(places->arena, numbers, (const char *)kept, sizeof *kept, fresh);
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

/* Returns the number of the function that starts at PLACE. NOTED is its notes, or NULL. */
static uint32_t number_function(struct places *places, struct place place,
                                const struct function *noted) {
    uint32_t fresh = (uint32_t)places->functions.count;
    uint32_t number = number_place(places, &places->function_numbers, place, fresh);
    if (number != fresh)
        return number;
    const char *name = noted ? noted->name : binary_symbol(place.module->binary, place.address);
    struct called_function function = {
        .module = place.module, .address = place.address, .noted = noted};
    function.name = name ? name
                         : arena_print(&places->profile->arena, "%s+0x%" PRIx64,
                                       last_part(place.module->path), place.address);
    function.demangled = demangle(&places->profile->arena, function.name);
    set_lines(&function, place.places);
    vector_push(places->arena, &places->functions, function);
    return fresh;
}

static uint32_t find_function(struct places *places, const struct process *process, uint32_t mark,
                              uint64_t address) {
    struct place place = find_place(places, process, mark, address);
    if (!place.module)
        return 0;
    const struct fragment *fragment = find_fragment(place.places, place.address);
    bool noted = fragment && fragment->function->address == place.address;
    return number_function(places, place, noted ? fragment->function : NULL);
}

uint32_t places_function(struct places *places, const struct process *process, uint32_t mark,
                         uint64_t address) {
    return find_recent(places, process, mark, address, places->recent->functions, find_function);
}

uint32_t places_find(const struct places *places, const struct module *module, uint64_t address) {
    struct place_key key = {module, address};
    const uint32_t *number = map_find(&places->function_numbers, (const char *)&key, sizeof key);
    return number ? *number : 0;
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
    const struct fragment *fragment = find_fragment(place.places, place.address);
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

static uint32_t find_site(struct places *places, const struct process *process, uint32_t mark,
                          uint64_t address) {
    struct place place = address ? find_place(places, process, mark, address - 1) /* in the call */
                                 : (struct place){.module = NULL};
    if (!place.module)
        return 0;
    uint32_t fresh = (uint32_t)places->sites.count;
    uint32_t number = number_place(places, &places->site_numbers, place, fresh);
    if (number != fresh)
        return number;
    struct call_site site = {.module = place.module, .address = place.address + 1};
    site.function = enclosing_function(places, place);
    site.call = find_call(&site, vector_at(&places->functions, site.function));
    lines_find(place.places->lines, place.address, &site.file, &site.line);
    vector_push(places->arena, &places->sites, site);
    return fresh;
}

uint32_t places_site(struct places *places, const struct process *process, uint32_t mark,
                     uint64_t address) {
    return find_recent(places, process, mark, address, places->recent->sites, find_site);
}
